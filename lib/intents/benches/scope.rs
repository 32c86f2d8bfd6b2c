//! Speed of scopes: `cargo bench -p coord-intents --bench scope`
//!
//! Prints the best time of several rounds on one core: 512 paths against 64 patterns, a scope of 64 patterns counted over
//! 100,000 files, and a new intent's scope against those of 100 active ones with 64 patterns each.

use std::hint::black_box;
use std::time::Instant;

use coord_intents::scope::{IntentIgnore, Judge, Refusal, Scope, StepBudget, Verdict};

const ROUNDS: usize = 15;

fn main() -> Result<(), Refusal> {
    let files = files(100_000);
    let usual = Scope::parse((0..64).map(|index| pattern(3, index)))?;
    // Each looks at every name below `packages`.
    let deep = Scope::parse((0..64).map(|index| format!("packages/**/module{index}/part*{}.ts", index % 10)))?;
    let ignore = IntentIgnore::parse(b"node_modules/\n*.key\n/dist/\n.env*\n!.env.example\n");
    let claimed: Vec<&String> = files.iter().step_by(files.len() / 512).take(512).collect();
    for (name, scope) in [("usual", &usual), ("deep", &deep)] {
        report(&format!("512 paths, 64 {name} patterns"), 1.0, || {
            let mut judge = Judge::new(scope, [&ignore]);
            claimed
                .iter()
                .filter(|path| judge.judge(path) == Verdict::Covered)
                .count()
        });
        report(&format!("100,000 files, 64 {name} patterns"), 100.0, || {
            scope.count(&files).covered
        });
    }
    let active: Result<Vec<Scope>, Refusal> = (0..100)
        .map(|intent| Scope::parse((0..64).map(|index| pattern(intent + 10, index))))
        .collect();
    let deep_active: Result<Vec<Scope>, Refusal> = (0..100)
        .map(|intent| Scope::parse((0..64).map(|index| format!("packages/**/module{intent}_{index}/part*.ts"))))
        .collect();
    for (name, scope, active) in [("usual", &usual, active?), ("deep", &deep, deep_active?)] {
        let mut taken = 0;
        report(&format!("overlap with 100 intents, {name} patterns"), 10.0, || {
            let mut steps = StepBudget::new();
            let meeting = active
                .iter()
                .filter(|other| scope.overlap(other, &mut steps).is_some())
                .count();
            taken = steps.taken();
            meeting
        });
        println!("    {taken} of at most {} steps", StepBudget::MOST);
    }
    // Each place of the one is nearly one of the other.
    let one = Scope::parse(vec![format!("*{}b*", "a".repeat(250)); 64])?;
    let other = Scope::parse(vec![format!("{}[ac]", "a".repeat(500)); 64])?;
    report("overlap of two hostile scopes, to the bound", 1000.0, || {
        one.overlap(&other, &mut StepBudget::new())
            .map_or(0, |overlap| usize::from(overlap.example.is_none()))
    });
    Ok(())
}

/// The `index`th of 64 patterns of an intent on one package.
fn pattern(package: usize, index: usize) -> String {
    match index % 4 {
        0 => format!("packages/p{package}/src/module{index}/**"),
        1 => format!("packages/p{package}/src/**/part{index}*.ts"),
        2 => format!("packages/p{package}/app/[tenant]/route{index}/page.tsx"),
        _ => format!("packages/p{package}/tests/module{index}/*.test.ts"),
    }
}

fn files(number: usize) -> Vec<String> {
    let file = |index: usize| {
        let (package, module) = (index % 100, index / 100 % 50);
        format!("packages/p{package}/src/module{module}/part{index}.ts")
    };
    let mut files: Vec<String> = (0..number).map(file).collect();
    files.sort();
    files
}

fn report(name: &str, target: f64, mut work: impl FnMut() -> usize) {
    let mut best = f64::INFINITY;
    let mut result = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        result = black_box(work());
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("{name:<48} {best:>8.2} ms of {target:>5} ms   ({result})");
}
