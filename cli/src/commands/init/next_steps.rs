//! The user's next steps, printed after the files are written.

use coord_agent::hot_files::{HotFiles, describe_hot_files, describe_hubs, hubs};
use coord_agent::local_server;
use coord_agent::options::AgentArgs;
use coord_files::RootedPath;
use coord_git::WorkingCopy;
use coord_protocol::plain_text::visible_line;
use coord_settings::policy::PATH;

use super::agents::Agent;
use super::agents::handler::Form;
use super::shared::SharedFiles;

/// The steps for `agents`, whose hooks have the form `form`. `shared` are the files to commit in `project`.
pub async fn next_steps(
    project: Option<&WorkingCopy>,
    agents: &[&'static Agent],
    form: Form,
    shared: Option<&SharedFiles>,
) -> String {
    let hot_file_steps = match project {
        Some(working_copy) => hot_file_steps(working_copy).await,
        None => String::new(),
    };
    let mut text = "\nNext:\n".to_owned();
    if let Some(shared) = shared.filter(|shared| !shared.committed.is_empty()) {
        text += &share_steps(shared, form);
    }
    // Opened again, because the settings have changed.
    let project = project.and_then(|project| WorkingCopy::find(project.root()).ok()?);
    if let Some(working_copy) = &project {
        text += &page_step(working_copy);
    }
    text += &hot_file_steps;
    let steps = agents.iter().filter_map(|agent| Some((agent.name, agent.next_step?)));
    let steps: String = steps.map(|(name, step)| format!("  {name:<12} {step}\n")).collect();
    if !steps.is_empty() {
        text += &format!("- In each agent, the next time it starts:\n{steps}");
    }
    text
}

fn share_steps(shared: &SharedFiles, form: Form) -> String {
    let files = shared.committed.join(" ");
    let teammates = match form {
        Form::Strict => "- Teammates need coord on their PATH: without it, their agents cannot edit.\n",
        Form::Guarded | Form::Plain => {
            "- Teammates need coord on their PATH: without it, their agents work without locks. Git's hooks are not shared: \
             each runs `coord init`.\n"
        }
    };
    format!("- Commit the shared files: git add {files}\n{teammates}")
}

fn page_step(working_copy: &WorkingCopy) -> String {
    let server = AgentArgs::default().server(working_copy).ok().flatten();
    let server = server.map(|url| visible_line(&url).into_owned());
    let page = server.or_else(|| local_server::running(working_copy).map(|announced| announced.address()));
    match page {
        Some(page) => format!("- See who works on what: {page}\n"),
        None => "- See who works on what: `coord doctor` prints the address of the page once an agent has started\n"
            .to_owned(),
    }
}

/// The steps about hubs, and about hot files if the repository has no policy file.
async fn hot_file_steps(working_copy: &WorkingCopy) -> String {
    let hubs = describe_hubs(&hubs(working_copy).await.unwrap_or_default());
    let hubs = hubs.map(|sentence| format!("- Know the hubs: {sentence}\n"));
    let has_no_policy = RootedPath::new(working_copy.root(), PATH)
        .about()
        .is_ok_and(|about| about.is_none());
    let hot = HotFiles::of(working_copy).ok().filter(|_| has_no_policy);
    let hot = hot.as_ref().and_then(describe_hot_files).map(|files| {
        format!("- Let several agents write files that everyone changes ({files}): coord policy suggest --write\n")
    });
    hubs.into_iter().chain(hot).collect()
}
