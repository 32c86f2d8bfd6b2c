// Edges between the files of Go modules, by Go's own tools: `go list` says which files are of which package and which
// package an import means, `go/parser` what each file imports.
//
//	go run main.go FOLDER [MODULE...] > truth.tsv
//
// MODULE are the folders of the modules in FOLDER, relative to it; without any, FOLDER is one. A line is
// `edge<TAB>file<TAB>file`, `source<TAB>file` for each file whose imports are known, or `ignored<TAB>file` for a file that
// go list leaves out of its package here, on this system.
package main

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

type listed struct {
	Dir, ImportPath, ForTest                                     string
	GoFiles, CgoFiles, TestGoFiles, XTestGoFiles, IgnoredGoFiles []string
	ImportMap                                                    map[string]string
}

func main() {
	root, err := filepath.EvalSymlinks(os.Args[1])
	check(err)
	root, err = filepath.Abs(root)
	check(err)
	modules := os.Args[2:]
	if len(modules) == 0 {
		modules = []string{"."}
	}
	lines := map[string]bool{}
	for _, module := range modules {
		judge(root, module, lines)
	}
	var sorted []string
	for line := range lines {
		sorted = append(sorted, line)
	}
	sort.Strings(sorted)
	for _, line := range sorted {
		fmt.Println(line)
	}
}

func judge(root, module string, lines map[string]bool) {
	packages := map[string]*listed{}
	own := map[string]bool{}
	// What imports mean in the tests of a package is told of the package as built for them.
	forTests := map[string]map[string]string{}
	for _, one := range list(filepath.Join(root, module), "-deps", "-test") {
		packages[one.ImportPath] = one
		// A package that is only built anew for a test has the same files.
		if path, _, isVariant := strings.Cut(one.ImportPath, " "); isVariant && packages[path] == nil {
			packages[path] = one
		}
		for path, mapped := range one.ImportMap {
			if one.ForTest != "" {
				if forTests[one.ForTest] == nil {
					forTests[one.ForTest] = map[string]string{}
				}
				forTests[one.ForTest][path], _, _ = strings.Cut(mapped, " ")
			}
		}
	}
	for _, one := range list(filepath.Join(root, module)) {
		own[one.ImportPath] = true
		packages[one.ImportPath] = one
	}
	relative := func(dir, name string) string {
		resolved, err := filepath.EvalSymlinks(dir)
		check(err)
		path, err := filepath.Rel(root, filepath.Join(resolved, name))
		check(err)
		if strings.HasPrefix(path, "..") {
			return ""
		}
		return path
	}
	for path, one := range packages {
		if one.Dir == "" || relative(one.Dir, "") == "" {
			continue
		}
		for _, name := range one.IgnoredGoFiles {
			lines["ignored\t"+relative(one.Dir, name)] = true
		}
		if !own[path] {
			continue
		}
		var names []string
		for _, files := range [][]string{one.GoFiles, one.CgoFiles, one.TestGoFiles, one.XTestGoFiles} {
			names = append(names, files...)
		}
		for _, name := range names {
			source := relative(one.Dir, name)
			lines["source\t"+source] = true
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(one.Dir, name), nil, parser.ImportsOnly)
			check(err)
			for _, spec := range file.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				check(err)
				if mapped, ok := one.ImportMap[path]; ok {
					path = mapped
				} else if mapped, ok := forTests[one.ImportPath][path]; ok {
					path = mapped
				}
				target := packages[path]
				if target == nil || target.Dir == "" {
					continue
				}
				for _, name := range append(append([]string{}, target.GoFiles...), target.CgoFiles...) {
					if file := relative(target.Dir, name); file != "" && file != source {
						lines["edge\t"+source+"\t"+file] = true
					}
				}
			}
		}
	}
}

func list(dir string, more ...string) []*listed {
	command := exec.Command("go", append(append([]string{"list", "-e", "-json"}, more...), "./...")...)
	command.Dir = dir
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	check(err)
	check(command.Start())
	var found []*listed
	for decoder := json.NewDecoder(out); ; {
		one := new(listed)
		err := decoder.Decode(one)
		if err == io.EOF {
			break
		}
		check(err)
		found = append(found, one)
	}
	// With -e, an import that cannot be had is no failure.
	_ = command.Wait()
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
