use std::fs;
#[cfg(unix)]
use std::net::TcpListener;

use super::*;

fn inside(folder: &tempfile::TempDir) -> RootedPath {
    RootedPath::new(folder.path(), "")
}

/// Writes the announcement of a server there.
fn announce(folder: &tempfile::TempDir, announced: &AnnouncedServer) {
    let text = announced.in_folder(&inside(folder)).text();
    fs::write(folder.path().join(FILE), text).unwrap();
}

fn announced(socket: &str) -> AnnouncedServer {
    AnnouncedServer {
        socket: socket.parse().unwrap(),
        repo: None,
        instance: None,
        process: 7,
        mark: None,
        machine: None,
        path: None,
    }
}

#[test]
fn an_announcement_is_read_as_it_was_written_and_an_earlier_versions_too() {
    let of_store = announced("127.0.0.1:3000");
    let of_repository = AnnouncedServer {
        repo: RepoId::parse("localhost/local/work-ebf61c96").ok(),
        ..announced("[::1]:3000")
    };
    let of_named = AnnouncedServer {
        instance: Some("0198f0c2".to_owned()),
        ..of_repository.clone()
    };
    let of_named_store = AnnouncedServer {
        repo: None,
        ..of_named.clone()
    };
    let of_folder = AnnouncedServer {
        mark: Some("3-4".to_owned()),
        ..of_named.clone()
    };
    let of_place = AnnouncedServer {
        machine: Some("1f2e-40-41".to_owned()),
        path: Some("0123456789abcdef".to_owned()),
        ..of_folder.clone()
    };
    for announced in [
        &of_store,
        &of_repository,
        &of_named,
        &of_named_store,
        &of_folder,
        &of_place,
    ] {
        assert_eq!(AnnouncedServer::parse(&announced.text()).as_ref(), Some(announced));
    }
    assert_eq!(
        of_repository.repo.as_ref().unwrap().as_str(),
        "localhost/local/work-ebf61c96"
    );
    assert_eq!(
        AnnouncedServer::parse("http://127.0.0.1:3000 (process 7)"),
        Some(of_store)
    );
    for damaged in [
        "",
        "http://",
        "http://127.0.0.1:3000",
        "http://127.0.0.1:3000 serving a (process 7)",
    ] {
        assert_eq!(AnnouncedServer::parse(damaged), None, "{damaged:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_still_listens_keeps_its_place_and_the_next_one_follows_it() {
    let folder = tempfile::tempdir().unwrap();
    let (first, own) = (
        TcpListener::bind("127.0.0.1:0").unwrap(),
        "127.0.0.1:1".parse().unwrap(),
    );
    let other = AnnouncedServer {
        // The process that has started this one.
        process: std::os::unix::process::parent_id(),
        ..announced(&first.local_addr().unwrap().to_string())
    };
    let place = inside(&folder);
    announce(&folder, &other);
    let second = Announcement::write([(place.clone(), None)], own);
    assert_eq!(AnnouncedServer::read(&place), Some(other.in_folder(&place)));
    // One that came with an archive keeps no place.
    fs::write(folder.path().join(FILE), other.text()).unwrap();
    assert_eq!(AnnouncedServer::read(&place), None);
    second.renew();
    assert_eq!(AnnouncedServer::read(&place).unwrap().socket(), own);
    // A different process has its address now.
    announce(
        &folder,
        &AnnouncedServer {
            process: u32::MAX,
            ..other.clone()
        },
    );
    second.renew();
    assert_eq!(AnnouncedServer::read(&place).unwrap().socket(), own);
    drop(first);
    // Nothing listens on a reserved port: the one that was left may be another test's by now.
    announce(
        &folder,
        &AnnouncedServer {
            socket: "127.0.0.1:1".parse().unwrap(),
            ..other
        },
    );
    second.renew();
    assert_eq!(AnnouncedServer::read(&place).unwrap().process, std::process::id());
    let gone = folder.path().to_owned();
    folder.close().unwrap();
    second.renew();
    assert!(!gone.exists(), "a folder that was deleted is not made again");
}

#[test]
fn a_server_is_named_by_its_address_and_on_its_machine_by_localhost() {
    let is_at = |socket, url| announced(socket).is_at(url);
    for url in ["http://127.0.0.1:3000", "http://localhost:3000/", "http://[::1]:3000"] {
        assert!(is_at("127.0.0.1:3000", url), "{url}");
    }
    assert!(is_at("0.0.0.0:3000", "http://build-host:3000"));
    assert!(is_at("10.0.0.5:3000", "http://10.0.0.5:3000"));
    for url in [
        "http://127.0.0.1:3001",
        "http://build-host:3000",
        "https://127.0.0.1:3000",
        "http://127.0.0.1",
        "",
    ] {
        assert!(!is_at("127.0.0.1:3000", url), "{url}");
    }
    assert!(!is_at("10.0.0.5:3000", "http://localhost:3000"));
}

#[test]
fn an_announcement_of_another_machine_counts_as_none() {
    let folder = tempfile::tempdir().unwrap();
    for (socket, is_here) in [
        ("127.0.0.1:3000", true),
        ("0.0.0.0:3000", true),
        ("192.0.2.1:3000", false),
    ] {
        announce(&folder, &announced(socket));
        assert_eq!(AnnouncedServer::read(&inside(&folder)).is_some(), is_here, "{socket}");
    }
}

#[test]
fn an_announcement_of_a_folder_that_was_renamed_counts_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    fs::create_dir(&before).unwrap();
    let (was, now) = (RootedPath::new(&before, ""), RootedPath::new(&after, ""));
    let here = machine::process_scope().map(str::to_owned);
    for (machine, is_read) in [
        (here, false),
        (Some("1f2e-40-41".to_owned()), cfg!(target_os = "linux")),
    ] {
        let announced = AnnouncedServer {
            machine,
            ..announced("127.0.0.1:3000")
        };
        fs::write(before.join(FILE), announced.in_folder(&was).text()).unwrap();
        assert!(AnnouncedServer::read(&was).is_some());
        fs::rename(&before, &after).unwrap();
        assert_eq!(AnnouncedServer::read(&now).is_some(), is_read);
        fs::rename(&after, &before).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_id_from_another_machine_proves_nothing_here() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = AnnouncedServer {
        process: std::process::id(),
        machine: Some("1f2e-40-41".to_owned()),
        ..announced("127.0.0.1:3000")
    };
    announce(&folder, &elsewhere);
    assert!(elsewhere.is_elsewhere() && !elsewhere.surely_runs(&inside(&folder)));
    assert_eq!(
        elsewhere.to_string(),
        "http://127.0.0.1:3000 (in another container or sandbox)"
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_everybody_may_write_and_a_link_count_as_none() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    announce(&folder, &announced("127.0.0.1:3000"));
    assert!(AnnouncedServer::read(&inside(&folder)).is_some());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(AnnouncedServer::read(&inside(&folder)).is_none());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&file, folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", &file).unwrap();
    assert!(AnnouncedServer::read(&inside(&folder)).is_none());
}

#[test]
fn a_process_that_is_younger_than_the_file_has_not_written_it() {
    let folder = tempfile::tempdir().unwrap();
    let own = AnnouncedServer {
        process: std::process::id(),
        ..announced("127.0.0.1:3000")
    };
    let file = folder.path().join(FILE);
    announce(&folder, &own);
    let place = inside(&folder);
    assert!(own.surely_runs(&place));
    assert!(!announced("127.0.0.1:3000").surely_runs(&place.join("elsewhere")));
    let ended = AnnouncedServer {
        process: u32::MAX,
        ..own.clone()
    };
    assert!(!ended.surely_runs(&place));
    let before = std::time::SystemTime::now() - Duration::from_secs(3600);
    let file = fs::File::options().write(true).open(&file).unwrap();
    file.set_modified(before).unwrap();
    assert!(!own.surely_runs(&place));
}
