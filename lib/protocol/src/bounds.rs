//! Limits of a request.

/// Bytes of a `repo_url`.
pub const REPO_URL_BYTES: usize = 2048;
/// Bytes of a branch's name.
pub const BRANCH_BYTES: usize = 255;
/// Bytes of a path.
pub const PATH_BYTES: usize = 4096;
/// Files of a request.
pub const FILES: usize = 512;
/// Bytes of the paths of a request together.
pub const PATHS_BYTES: usize = 64 * 1024;
/// Characters of a `message`.
pub const MESSAGE_CHARS: usize = 500;
/// Bytes of path and query: three times the longest file path (percent-encoding), and the other parameters.
pub const URI_BYTES: usize = 16 * 1024;
/// Bytes of a description, a note, a result or a message.
pub const TEXT_BYTES: usize = 16 * 1024;
/// Characters of the title of a task.
pub const TITLE_CHARS: usize = 200;
/// Tasks that are added by one request.
pub const NEW_TASKS: usize = 200;
/// Dependencies of a task, and tasks that a request says depend on it.
pub const DEPENDENCIES: usize = 256;
/// Dependencies, in both directions, of all tasks that are added by one request.
pub const NEW_DEPENDENCIES: usize = 4096;
/// Recipients of a message.
pub const RECIPIENTS: usize = 100;
/// Seconds that a claim of a task lasts.
pub const LEASE_SECONDS: std::ops::RangeInclusive<u32> = 30..=86_400;
/// Seconds that members have to answer a shutdown.
pub const RESPOND_SECONDS: std::ops::RangeInclusive<u32> = 1..=86_400;
/// The most seconds that a request waits for a message or a task.
pub const WAIT_SECONDS: u32 = 20;
/// The largest number of a message or a task in a team.
pub const NUMBER: u64 = 999_999_999_999;

/// Splits `files` into as many requests as the bounds require.
pub fn split_files(files: Vec<String>) -> Vec<Vec<String>> {
    let mut requests: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for file in files {
        bytes += file.len();
        match requests.last_mut() {
            Some(request) if request.len() < FILES && bytes <= PATHS_BYTES => request.push(file),
            _ => {
                bytes = file.len();
                requests.push(vec![file]);
            }
        }
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_take_several_requests() {
        let names = |count: usize, width: usize| (0..count).map(|number| format!("{number:0width$}")).collect();
        let lengths = |files: Vec<String>| split_files(files).iter().map(Vec::len).collect::<Vec<usize>>();
        assert_eq!(lengths(names(1025, 4)), [512, 512, 1]);
        assert_eq!(lengths(names(33, 4096)), [16, 16, 1]);
        assert_eq!(split_files(vec![]), Vec::<Vec<String>>::new());
    }
}
