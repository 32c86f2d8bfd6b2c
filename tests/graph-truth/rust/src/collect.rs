//! The modules of one crate, from its root on, and what their paths mean.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::visit::{self, Visit};

type Id = usize;

#[derive(Default)]
struct Module {
    file: PathBuf,
    parent: Option<Id>,
    children: BTreeMap<String, Vec<Id>>,
    scope: Id,
    takes_parents_names: bool,
}

#[derive(Default)]
struct Scope {
    /// The block or module around it; a module's scope has none.
    outer: Option<Id>,
    aliases: BTreeMap<String, Vec<String>>,
}

/// A path as written; the first name is `""` where it begins with `::`.
struct Written {
    module: Id,
    scope: Id,
    names: Vec<String>,
    is_use: bool,
}

#[derive(Default)]
pub struct Tree {
    modules: Vec<Module>,
    scopes: Vec<Scope>,
    paths: Vec<Written>,
    declared: Vec<(PathBuf, PathBuf)>,
    included: BTreeSet<PathBuf>,
    /// Other names that the root gives to crates.
    renamed: BTreeMap<String, Vec<String>>,
}

impl Tree {
    pub fn read(root: &Path) -> Self {
        let mut tree = Tree::default();
        tree.add_file(root.to_owned(), None, root.parent().expect("a file").to_owned());
        tree
    }

    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.modules.iter().map(|module| &module.file)
    }

    pub fn has_file(&self, file: &Path) -> bool {
        self.included.contains(file) || self.files().any(|known| known == file)
    }

    /// `folder` is where its modules are looked for.
    fn add_file(&mut self, file: PathBuf, parent: Option<Id>, folder: PathBuf) -> Option<Id> {
        let text = std::fs::read_to_string(&file).ok()?;
        let parsed = match syn::parse_file(&text) {
            Ok(parsed) => parsed,
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                return None;
            }
        };
        let own = file.parent()?.to_owned();
        let module = self.add_module(file, parent);
        let scope = self.modules[module].scope;
        let mut collector = Collector {
            tree: self,
            module,
            scope,
            own,
            folder,
            is_inline: false,
        };
        collector.visit_file(&parsed);
        Some(module)
    }

    fn add_module(&mut self, file: PathBuf, parent: Option<Id>) -> Id {
        self.scopes.push(Scope::default());
        self.modules.push(Module {
            file,
            parent,
            scope: self.scopes.len() - 1,
            ..Module::default()
        });
        self.modules.len() - 1
    }

    pub fn edges(
        &self,
        is_2015: bool,
        crates: &BTreeMap<String, PathBuf>,
        trees: &BTreeMap<PathBuf, Tree>,
    ) -> Vec<(PathBuf, PathBuf)> {
        let mut edges = self.declared.clone();
        for path in &self.paths {
            let from = &self.modules[path.module].file;
            let targets = self.targets(path, is_2015, crates, trees);
            edges.extend(targets.into_iter().map(|to| (from.clone(), to)));
        }
        edges
    }

    fn targets(
        &self,
        path: &Written,
        is_2015: bool,
        crates: &BTreeMap<String, PathBuf>,
        trees: &BTreeMap<PathBuf, Tree>,
    ) -> Vec<PathBuf> {
        let (mut module, mut scope, mut names) = (path.module, path.scope, path.names.clone());
        let mut from_root = is_2015 && path.is_use && !matches!(names[0].as_str(), "crate" | "self" | "super");
        for _ in 0..16 {
            if from_root {
                from_root = false;
                let rest = if names[0].is_empty() { &names[1..] } else { &names[..] };
                if rest.is_empty() {
                    return self.deepest(0, rest);
                }
                if rest
                    .first()
                    .is_some_and(|name| self.modules[0].children.contains_key(name))
                {
                    return self.deepest(0, rest);
                }
            }
            match names[0].as_str() {
                "" => return external(&names[1..], crates, trees),
                "crate" => return self.deepest(0, &names[1..]),
                "self" | "super" => {
                    let mut at = 0;
                    while matches!(names.get(at).map(String::as_str), Some("self" | "super")) {
                        if names[at] == "super" {
                            let Some(parent) = self.modules[module].parent else {
                                return Vec::new();
                            };
                            module = parent;
                        }
                        at += 1;
                    }
                    let rest = names.split_off(at);
                    let alias = rest.first().and_then(|first| {
                        let is_module = self.modules[module].children.contains_key(first);
                        self.scopes[self.modules[module].scope]
                            .aliases
                            .get(first)
                            .filter(|_| !is_module)
                    });
                    // Only within the file: what another file takes from elsewhere is not followed.
                    match alias.filter(|_| self.modules[module].file == self.modules[path.module].file) {
                        Some(alias) => names = alias.iter().chain(&rest[1..]).cloned().collect(),
                        None => return self.deepest(module, &rest),
                    }
                    scope = self.modules[module].scope;
                }
                name => {
                    let Some((at, alias)) = self.find(name, module, scope) else {
                        match self.renamed.get(name) {
                            Some(path) => {
                                names = path.iter().chain(&names[1..]).cloned().collect();
                                continue;
                            }
                            None => return external(&names, crates, trees),
                        }
                    };
                    match alias {
                        None => return self.deepest(at, &names),
                        Some(found_in) => {
                            let alias = &self.scopes[found_in].aliases[name];
                            names = alias.iter().chain(&names[1..]).cloned().collect();
                            (module, scope) = (at, found_in);
                        }
                    }
                }
            }
        }
        Vec::new()
    }

    /// The module in which `name` is a module, or the scope in which it is an alias.
    fn find(&self, name: &str, mut module: Id, mut scope: Id) -> Option<(Id, Option<Id>)> {
        loop {
            let own = self.modules[module].scope;
            if scope == own && self.modules[module].children.contains_key(name) {
                return Some((module, None));
            }
            if self.scopes[scope].aliases.contains_key(name) {
                return Some((module, Some(scope)));
            }
            match self.scopes[scope].outer {
                Some(outer) => scope = outer,
                None => {
                    let parent = self.modules[module].parent?;
                    let is_inline = self.modules[parent].file == self.modules[module].file;
                    if !self.modules[module].takes_parents_names || !is_inline {
                        return None;
                    }
                    module = parent;
                    scope = self.modules[module].scope;
                }
            }
        }
    }

    fn deepest(&self, start: Id, names: &[String]) -> Vec<PathBuf> {
        let mut reached = Vec::new();
        let mut modules = vec![start];
        for name in names {
            let mut next = Vec::new();
            for module in modules {
                match self.modules[module].children.get(name) {
                    Some(children) => next.extend(children),
                    None => reached.push(module),
                }
            }
            modules = next;
        }
        reached.extend(modules);
        reached
            .into_iter()
            .map(|module| self.modules[module].file.clone())
            .collect()
    }
}

fn external(names: &[String], crates: &BTreeMap<String, PathBuf>, trees: &BTreeMap<PathBuf, Tree>) -> Vec<PathBuf> {
    let tree = names.first().and_then(|name| trees.get(crates.get(name)?));
    tree.filter(|tree| !tree.modules.is_empty())
        .map(|tree| tree.deepest(0, &names[1..]))
        .unwrap_or_default()
}

struct Collector<'a> {
    tree: &'a mut Tree,
    module: Id,
    scope: Id,
    own: PathBuf,
    folder: PathBuf,
    is_inline: bool,
}

impl Collector<'_> {
    fn note(&mut self, names: Vec<String>, is_use: bool) {
        if !names.is_empty() {
            self.tree.paths.push(Written {
                module: self.module,
                scope: self.scope,
                names,
                is_use,
            });
        }
    }

    fn bind(&mut self, name: String, names: &[String]) {
        if name != "_" && names.first() != Some(&name) {
            self.tree.scopes[self.scope]
                .aliases
                .entry(name)
                .or_insert_with(|| names.to_vec());
        }
    }

    fn use_tree(&mut self, prefix: &mut Vec<String>, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(plain(&path.ident));
                self.use_tree(prefix, &path.tree);
                prefix.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.use_tree(prefix, item)),
            syn::UseTree::Glob(_) => {
                if *prefix == ["super"] && self.scope == self.tree.modules[self.module].scope {
                    self.tree.modules[self.module].takes_parents_names = true;
                }
                self.note(prefix.clone(), true);
            }
            syn::UseTree::Name(name) => self.leaf(prefix, plain(&name.ident), None),
            syn::UseTree::Rename(rename) => self.leaf(prefix, plain(&rename.ident), Some(plain(&rename.rename))),
        }
    }

    fn leaf(&mut self, prefix: &[String], name: String, alias: Option<String>) {
        let mut names = prefix.to_vec();
        if name != "self" || prefix.is_empty() {
            names.push(name);
        }
        let bound = alias.or_else(|| names.last().cloned());
        self.bind(bound.unwrap_or_default(), &names);
        self.note(names, true);
    }

    /// The names of a path that can be modules: all but the last, as far as none has arguments.
    fn path(&mut self, path: &syn::Path, take: usize) {
        let mut names: Vec<String> = path.leading_colon.iter().map(|_| String::new()).collect();
        let mut parents = 0;
        for segment in path.segments.iter().take(take.saturating_sub(1)) {
            if !segment.arguments.is_empty() {
                break;
            }
            names.push(plain(&segment.ident));
            parents += 1;
        }
        if parents > 0 {
            self.note(names, false);
        }
    }

    /// The text of a macro: items, statements or expressions where it is one of these, else what paths it has.
    fn tokens(&mut self, tokens: TokenStream) {
        if tokens.is_empty() {
        } else if let Ok(file) = syn::parse2::<syn::File>(tokens.clone()) {
            self.visit_file(&file);
        } else if let Ok(statements) = syn::Block::parse_within.parse2(tokens.clone()) {
            statements.iter().for_each(|statement| self.visit_stmt(statement));
        } else {
            self.loose_tokens(tokens);
        }
    }

    /// The paths of a macro's rules that begin with `$crate`.
    fn own_paths(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_sign = |at: usize, sign: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.own_paths(group.stream()),
                TokenTree::Ident(name) if name == "crate" && at > 0 && is_sign(at - 1, '$') => {
                    let mut names = vec!["crate".to_owned()];
                    let mut at = at + 1;
                    while is_sign(at, ':')
                        && is_sign(at + 1, ':')
                        && let Some(TokenTree::Ident(name)) = tokens.get(at + 2)
                    {
                        names.push(plain(name));
                        at += 3;
                    }
                    names.pop();
                    self.note(names, false);
                }
                _ => {}
            }
        }
    }

    fn loose_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_colons = |at: usize| {
            let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
            colon(at) && colon(at + 1)
        };
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => self.tokens(group.stream()),
                TokenTree::Group(group) => self.loose_tokens(group.stream()),
                TokenTree::Ident(first) => {
                    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
                    let goes_on = at >= 2 && is_colons(at - 2);
                    let is_global = goes_on
                        && !matches!(at.checked_sub(3).and_then(|at| tokens.get(at)), Some(TokenTree::Punct(punct)) if punct.as_char() == '>');
                    let is_skipped = matches!(before, Some(TokenTree::Punct(punct)) if punct.as_char() == '$')
                        || (goes_on && !is_global);
                    let mut names: Vec<String> = is_global.then(String::new).into_iter().collect();
                    names.push(plain(first));
                    while is_colons(at + 1)
                        && let Some(TokenTree::Ident(name)) = tokens.get(at + 3)
                    {
                        names.push(plain(name));
                        at += 3;
                    }
                    names.pop();
                    if !is_skipped && names.iter().any(|name| !name.is_empty()) {
                        self.note(names, false);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        let name = plain(&item.ident);
        let (always, sometimes) = paths(&item.attrs);
        if let Some((_, items)) = &item.content {
            let file = self.tree.modules[self.module].file.clone();
            let child = self.tree.add_module(file, Some(self.module));
            self.tree.modules[self.module]
                .children
                .entry(name.clone())
                .or_default()
                .push(child);
            let folder = match always.first() {
                Some(path) => {
                    if self.is_inline {
                        self.folder.join(path)
                    } else {
                        self.own.join(path)
                    }
                }
                None => self.folder.join(&name),
            };
            let scope = self.tree.modules[child].scope;
            let mut inner = Collector {
                tree: self.tree,
                module: child,
                scope,
                own: self.own.clone(),
                folder,
                is_inline: true,
            };
            items.iter().for_each(|item| inner.visit_item(item));
            return;
        }
        let base = if self.is_inline { &self.folder } else { &self.own };
        let mut files: Vec<(PathBuf, Option<PathBuf>)> = Vec::new();
        for path in always.iter().chain(&sometimes) {
            files.push((base.join(path), None));
        }
        if always.is_empty() {
            files.push((self.folder.join(format!("{name}.rs")), Some(self.folder.join(&name))));
            files.push((self.folder.join(&name).join("mod.rs"), None));
        }
        let mut has_conventional = false;
        for (file, folder) in files {
            let is_conventional = folder.is_some() || file.ends_with("mod.rs");
            let Ok(file) = file.canonicalize() else { continue };
            if has_conventional && is_conventional {
                continue;
            }
            has_conventional |= is_conventional;
            let depth = std::iter::successors(Some(self.module), |id| self.tree.modules[*id].parent).count();
            if depth > 40 {
                continue;
            }
            let folder = folder.unwrap_or_else(|| file.parent().expect("a file").to_owned());
            self.tree
                .declared
                .push((self.tree.modules[self.module].file.clone(), file.clone()));
            if let Some(child) = self.tree.add_file(file, Some(self.module), folder) {
                self.tree.modules[self.module]
                    .children
                    .entry(name.clone())
                    .or_default()
                    .push(child);
            }
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        let mut prefix: Vec<String> = item.leading_colon.iter().map(|_| String::new()).collect();
        self.use_tree(&mut prefix, &item.tree);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        let name = plain(&item.ident);
        let names = if name == "self" {
            vec!["crate".to_owned()]
        } else {
            vec![String::new(), name]
        };
        if let Some((_, alias)) = &item.rename {
            self.bind(plain(alias), &names);
            if self.module == 0 && self.scope == self.tree.modules[0].scope {
                self.tree.renamed.insert(plain(alias), names.clone());
            }
        }
        self.note(names, true);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let outer = self.scope;
        self.tree.scopes.push(Scope {
            outer: Some(outer),
            ..Scope::default()
        });
        self.scope = self.tree.scopes.len() - 1;
        visit::visit_block(self, block);
        self.scope = outer;
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.path(path, path.segments.len());
        visit::visit_path(self, path);
    }

    fn visit_type_path(&mut self, one: &'ast syn::TypePath) {
        self.qualified(one.qself.as_ref(), &one.path);
    }

    fn visit_expr_path(&mut self, one: &'ast syn::ExprPath) {
        one.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        self.qualified(one.qself.as_ref(), &one.path);
    }

    // A module around an item is no use of that module.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        self.visit_path(attribute.path());
        match &attribute.meta {
            syn::Meta::List(list) => self.loose_tokens(list.tokens.clone()),
            syn::Meta::NameValue(pair) => self.visit_expr(&pair.value),
            syn::Meta::Path(_) => {}
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        self.visit_macro(&item.mac);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        let name = call
            .path
            .segments
            .last()
            .map(|last| plain(&last.ident))
            .unwrap_or_default();
        match name.as_str() {
            "macro_rules" => self.own_paths(call.tokens.clone()),
            "quote" | "quote_spanned" | "parse_quote" | "parse_quote_spanned" => {}
            "include" => {
                if let Ok(literal) = syn::parse2::<syn::LitStr>(call.tokens.clone())
                    && let Ok(file) = self.own.join(literal.value()).canonicalize()
                {
                    self.tree.included.insert(file);
                }
            }
            _ => self.tokens(call.tokens.clone()),
        }
    }
}

impl Collector<'_> {
    fn qualified(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path) {
        match qself {
            None => self.visit_path(path),
            Some(qself) => {
                self.visit_type(&qself.ty);
                self.path(path, qself.position);
                visit::visit_path(self, path);
            }
        }
    }
}

/// Returns the values of `path` attributes, always and under a condition.
fn paths(attributes: &[syn::Attribute]) -> (Vec<String>, Vec<String>) {
    let (mut always, mut sometimes) = (Vec::new(), Vec::new());
    for attribute in attributes {
        match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => always.extend(string(&pair.value)),
            syn::Meta::List(list) if list.path.is_ident("cfg_attr") => {
                let metas = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated
                    .parse2(list.tokens.clone());
                for meta in metas.into_iter().flatten().skip(1) {
                    if let syn::Meta::NameValue(pair) = meta
                        && pair.path.is_ident("path")
                    {
                        sometimes.extend(string(&pair.value));
                    }
                }
            }
            _ => {}
        }
    }
    (always, sometimes)
}

fn string(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

fn plain(ident: &proc_macro2::Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}
