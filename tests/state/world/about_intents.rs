//! An agent's statements about intents.

use std::sync::{Arc, Mutex};

use coord_domain::FilePath;
use coord_intents::intent::Intent;
use coord_intents_state::intents::ScopeQuestion;
use coord_scopes::{IntentIgnore, Judge, Scope, Verdict};
use coord_state::locks::{GateRules, GateTerms, Judgment};
use coord_store::Request;

use super::{Agent, World};

/// An agent's statements about intents, and the questions of scripts.
#[derive(Clone)]
pub struct AboutIntents {
    pub cited: Option<String>,
    pub rules: GateRules,
    /// Name and digest.
    pub call: (String, String),
    pub origin: String,
    /// The last question, with all texts. Nothing is remembered of it where it is none's.
    last_question: Arc<Mutex<Option<ScopeQuestion>>>,
    pub questions: Arc<Mutex<usize>>,
}

impl Default for AboutIntents {
    fn default() -> Self {
        AboutIntents {
            cited: None,
            rules: GateTerms::NONE.rules,
            call: Default::default(),
            origin: GateTerms::NONE.origin.to_owned(),
            last_question: Arc::default(),
            questions: Arc::default(),
        }
    }
}

impl AboutIntents {
    pub fn terms<'a>(&'a self, judgment: Option<&'a Judgment>) -> GateTerms<'a> {
        GateTerms {
            rules: self.rules,
            cited: self.cited.as_deref(),
            tool: &self.call.0,
            call: &self.call.1,
            origin: &self.origin,
            judgment,
        }
    }

    /// Returns the last question, judged for these files.
    pub fn judgment(&self, paths: &[FilePath]) -> Option<Judgment> {
        let last_question = self.last_question.lock().unwrap();
        let last_question = last_question.as_ref()?;
        let intent: Intent = serde_json::from_str(&last_question.text).unwrap();
        let scope = Scope::parse(&intent.owned_scope).unwrap();
        let ignore = IntentIgnore::parse(last_question.ignore_text.as_bytes());
        let mut judge = Judge::new(&scope, [&ignore]);
        let letter = |path: &FilePath| match judge.judge(path.as_str()) {
            Verdict::Covered => 'C',
            _ => 'O',
        };
        Some(Judgment {
            intent: last_question.intent.clone(),
            scope: last_question.scope.clone(),
            ignore: last_question.ignore.clone(),
            letters: paths.iter().map(letter).collect(),
            files: paths.iter().map(|path| path.as_str().to_owned()).collect(),
        })
    }

    /// Returns the last question, judged for the files that it names.
    pub fn last_judgment(&self) -> Option<Judgment> {
        let files = self.last_question.lock().unwrap().as_ref()?.files.clone();
        let paths: Vec<FilePath> = files.iter().map(|file| FilePath::parse(file).unwrap()).collect();
        self.judgment(&paths)
    }

    /// Takes a question; texts whose digests were sent before are not in it.
    pub fn learn(&self, mut question: ScopeQuestion) {
        let mut last_question = self.last_question.lock().unwrap();
        if let Some(before) = last_question.take() {
            if question.text.is_empty() {
                assert_eq!(question.scope, before.scope, "that was sent");
                question.text = before.text;
            }
            if question.ignore_text.is_empty() && question.ignore == before.ignore {
                question.ignore_text = before.ignore_text;
            }
        }
        *last_question = Some(question);
        *self.questions.lock().unwrap() += 1;
    }
}

impl Agent<'_> {
    pub fn citing(mut self, intent: &str) -> Self {
        self.about.cited = Some(intent.to_owned());
        self
    }

    /// Makes a call of a tool with this input.
    pub fn calling(mut self, tool: &str, input: &str) -> Self {
        self.about.call = (tool.to_owned(), format!("{tool} {input}"));
        self
    }

    /// Where each claim to write has to cite an intent.
    pub fn where_required(mut self) -> Self {
        self.about.rules.is_required = true;
        self
    }
}

impl World {
    /// Writes `row` as what is known of `count` files, `f0` and so on.
    pub async fn stores_rows(&self, count: usize, row: &str) {
        let key = coord_intents_state::intents::keys::owners(&self.repo);
        let names: Vec<String> = (0..count).map(|number| format!("f{number}")).collect();
        for names in names.chunks(1_000) {
            let fields = names.iter().flat_map(|name| [name.as_str(), row]);
            let words = ["HSET", &key].into_iter().chain(fields);
            let words = words.map(|word| word.as_bytes().to_vec()).collect();
            self.store.run(vec![Request::Command(words)]).await.unwrap();
        }
    }
}
