use crate::import_kind::ImportKind::{self, *};
use crate::language::Language;
use crate::scan;

fn imports(language: Language, text: &str) -> Vec<(String, u32)> {
    scan(language, text.as_bytes())
        .into_iter()
        .map(|found| (found.text, found.line))
        .collect()
}

#[test]
fn the_scripts_of_a_component_are_read_with_the_lines_of_the_file() {
    let text = "<template>\n <p>import './x' it's</p>\n</template>\n<!-- <script>import './x'</script> -->\n\
        <script>\nimport a from './a'\n</script>\n<SCRIPT setup lang=\"ts\">\nlet b: import('./b').B\n</SCRIPT>\n\
        <scripts>import './x'</scripts>\n<style>@import './x.css';</style>";
    for language in [Language::Vue, Language::Svelte] {
        assert_eq!(imports(language, text), [("./a".to_owned(), 6), ("./b".to_owned(), 9)]);
    }
}

#[test]
fn a_script_elsewhere_is_an_import() {
    for (text, expected) in [
        ("<script src=\"./a.ts\" lang='ts'></script>", "./a.ts"),
        ("<script lang=ts src=./a.ts />", "./a.ts"),
        ("<script\n  src = './a.ts'\n/>\n<p>import './x'</p>", "./a.ts"),
        ("<script data-x='>' src='./a.ts'></script>", "./a.ts"),
    ] {
        let found: Vec<_> = imports(Language::Vue, text).into_iter().map(|(text, _)| text).collect();
        assert_eq!(found, [expected], "{text}");
    }
}

#[test]
fn the_language_of_a_script_decides_what_an_angle_bracket_is() {
    let typed = "<script lang=\"ts\">let a = <T>b; let c = '<'; import './a'</script>";
    let plain = "<script>let a = <p>it's</p>; import './a'</script>";
    for text in [typed, plain] {
        assert_eq!(imports(Language::Vue, text), [("./a".to_owned(), 1)], "{text}");
    }
}

#[test]
fn the_code_fence_of_an_astro_component_is_typescript() {
    let text = "---\nimport A from './a'\nconst b: B = <p>it's</p>\nimport type C from './c'\n---\n\
        <A>import './x'</A>\n<script>import './d'</script>";
    let expected = [("./a".to_owned(), 2), ("./c".to_owned(), 4), ("./d".to_owned(), 7)];
    assert_eq!(imports(Language::Astro, text), expected);
    assert_eq!(imports(Language::Astro, &text.replace('\n', "\r\n")), expected);
    assert_eq!(imports(Language::Astro, "---\nimport './a'"), []);
    assert_eq!(imports(Language::Astro, "<p>---\nimport './a'\n---</p>"), []);
}

#[test]
fn a_script_that_is_never_closed_is_read_to_the_end() {
    assert_eq!(
        imports(Language::Svelte, "<script>import './a'"),
        [("./a".to_owned(), 1)]
    );
    for text in [
        "<script",
        "<script src",
        "<script src=",
        "<script src='",
        "<script /",
        "<",
        "<!--",
        "</script>",
    ] {
        assert_eq!(imports(Language::Svelte, text), [], "{text}");
    }
}

/// Every row must give exactly its imports.
fn check(language: Language, rows: &[(&str, &[(ImportKind, &str)])]) {
    for (text, expected) in rows {
        let found = scan(language, text.as_bytes());
        let found: Vec<_> = found.iter().map(|one| (one.kind, one.text.as_str())).collect();
        assert_eq!(found, *expected, "{language:?}: {text}");
    }
}

// rule: languages#component-scripts
#[test]
fn scripts_at_the_root_and_braces_are_the_code_of_svelte() {
    check(
        Language::Svelte,
        &[
            (
                "<script>\n let a = 1;\n</script>\n{#await import(\"./Lazy.svelte\") then { default: Lazy }}\n<Lazy />\n{/await}\n<button onclick={() => import(\"./on-click.js\")}>x</button>\n<p>the text import(\"./no.js\") is text</p>",
                &[(Dynamic, "./Lazy.svelte"), (Dynamic, "./on-click.js")],
            ),
            (
                "<svelte:head><script>import './no'</script></svelte:head><script>import './a'</script>",
                &[(Import, "./a")],
            ),
            (
                "{@html `<script>import './no'</script>`}<script>import './a'</script>",
                &[(Import, "./a")],
            ),
            (
                "{#if a}<script>import './no'</script>{/if}<script>import './a'</script>",
                &[(Import, "./a")],
            ),
            (
                "{#if a}{#each b as c}<b/>{/each}<p>x<p>y{/if}\n<ul><li>a<li>b</ul><br><input><script>import './a'</script>",
                &[(Import, "./a")],
            ),
            (
                "<div><div></div><script>import './no'</script></div><script lang=ts generics=\"T extends import('./t').X\">import './a'</script>",
                &[(Type, "./t"), (Import, "./a")],
            ),
            (
                "<a href=\"it's {b(\"}\")} {await import('./a')}\" c='{import(\"./b\")}' {...d} {@attach import('./c')} e={/'/}>it's</a>{import('./d')}",
                &[(Dynamic, "./a"), (Dynamic, "./b"), (Dynamic, "./c"), (Dynamic, "./d")],
            ),
            (
                "{#if /'/.test(a)}b{:else if /\"/.test(c)}d{:else}{import('./a')}{/if}",
                &[(Dynamic, "./a")],
            ),
            (
                "{/* it's */ import('./a')}{// }\n import('./b')}{ }{}",
                &[(Dynamic, "./a"), (Dynamic, "./b")],
            ),
            (
                "{@const a = { b: { c: `}${'}'}` } }}{@html import('./a')}",
                &[(Dynamic, "./a")],
            ),
            (
                "{ import('./no') <p>{a}</p> <script>import './a'</script>",
                &[(Import, "./a")],
            ),
            (
                "<style>a{b:url(import('./no'))}</style><style src=\"./a.css\"></style><template src='./b.html' /><script src=\"./c.ts\"></script>",
                &[(Import, "./a.css"), (Import, "./b.html"), (Import, "./c.ts")],
            ),
            ("<div><style>a{b:c}</style>{import('./a')}</div>", &[(Dynamic, "./a")]),
        ],
    );
}

// rule: languages#component-scripts
#[test]
fn blocks_at_the_root_and_directives_are_the_code_of_vue() {
    check(
        Language::Vue,
        &[
            (
                "<template><component :is=\"defineAsyncComponent(() => import('./A.vue'))\" b=\"import('./no')\" /><script>import './no'</script></template><script>import './a'</script>",
                &[(Dynamic, "./A.vue"), (Import, "./a")],
            ),
            (
                "<template><p>{{ it('s', import('./a')) }} it's {{</p><img :src=\"require('./b.png')\" @click='import(\"./c\")' v-if=\"await import('./d')\" v-for='a in b'></template>",
                &[
                    (Dynamic, "./a"),
                    (Require, "./b.png"),
                    (Dynamic, "./c"),
                    (Dynamic, "./d"),
                ],
            ),
            (
                "<template><template #a=\"{ b }\"><script>import './no'</script></template><script>import './no'</script></template><script setup lang=\"ts\" generic=\"T extends import('./t').X\">import './a'</script>",
                &[(Type, "./t"), (Import, "./a")],
            ),
            (
                "<template lang=\"pug\">\np(:a=\"import('./no')\")\n</template><style src=\"./a.css\"/><template src=\"./b.html\"></template><i18n src='./c.json'></i18n><docs><script>import './no'</script></docs>",
                &[(Import, "./a.css"), (Import, "./b.html"), (Import, "./c.json")],
            ),
            (
                "<template><!-- </template> --><p a='</template>'>{{ '</template>' }}</p></template><script>import './a'</script>",
                &[(Import, "./a")],
            ),
        ],
    );
}

// rule: languages#component-scripts
#[test]
fn scripts_without_attributes_and_braces_are_the_code_of_astro() {
    check(
        Language::Astro,
        &[
            (
                "---\n---\n<script is:inline>import \"./no1.js\"</script>\n<script define:vars={{a:1}}>import(\"./no2.js\")</script>\n<script is:inline src=\"./no3.js\"></script><script>import \"./y1\"</script><script src='./y2'></script><script type=module>import './no'</script><script src={a} /><script src=\"./y3\"/>",
                &[(Import, "./y1"), (Import, "./y2"), (Import, "./y3")],
            ),
            (
                "<p>{await import('./a')} it's {b}</p><C d={import('./b')} {...await import('./c')} e=`${import('./d')}'`>it's</C>",
                &[(Dynamic, "./a"), (Dynamic, "./b"), (Dynamic, "./c"), (Dynamic, "./d")],
            ),
            (
                "<!doctype html><meta a><br>a < b it's } `<a href=//x.y/z>it's</a><!-- {import('./no')} <script>import './no'</script> -->{import('./a')}",
                &[(Dynamic, "./a")],
            ),
            (
                "{a.map(b => <p>it's <br> <img src={c}> {import('./a')} <!-- it's --> <style>a{b:import('./no')}</style></p>)}{import('./b')}",
                &[(Dynamic, "./a"), (Dynamic, "./b")],
            ),
            (
                "{a && <script>import './a'; '}'</script>}<script>import './b'</script>{a && <script is:inline>import './no'</script>}",
                &[(Import, "./a"), (Import, "./b")],
            ),
            (
                "<Fragment set:html={`<script>import './no'</script>`} /><script>import './a'</script>",
                &[(Import, "./a")],
            ),
            (
                "<p>{import('./no')</p>\n<script>import './a'</script>",
                &[(Import, "./a")],
            ),
            (
                "<style>a{b:import('./no')}</style><script>if (a < b) import('./a')</script>\n<ul><li>a<li>{import('./b')}</ul>{<input>}{a < b ? import('./c') : ''}",
                &[(Dynamic, "./a"), (Dynamic, "./b"), (Dynamic, "./c")],
            ),
        ],
    );
}
