//! The endpoints of teams, their tasks and their messages, and their rows in the table of routes.

mod teams;

use coord_http::{Route, endpoints};

use teams::acts::{
    messages_read, task_claim, task_complete, task_next, task_release, team_join, team_leave, team_shutdown,
};
pub use teams::{TaskQuery, TeamsQuery};
use teams::{messages, task, tasks, team};

const AGENTS: Route = Route::FOR_AGENTS;

endpoints! {
    TEAMS = teams { methods: "GET, HEAD, POST", ..AGENTS };
    TEAM = team at "/api/teams/{team}" { methods: "GET, HEAD, PATCH, DELETE", served_with: Some("teams"), ..AGENTS };
    TEAM_JOIN = team_join at "/api/teams/{team}/join" { served_with: Some("teams"), ..AGENTS };
    TEAM_LEAVE = team_leave at "/api/teams/{team}/leave" { served_with: Some("teams"), ..AGENTS };
    TEAM_SHUTDOWN = team_shutdown at "/api/teams/{team}/shutdown" { served_with: Some("teams"), ..AGENTS };
    TASKS = tasks { methods: "GET, HEAD, POST", served_with: Some("teams"), is_compressed: true, ..AGENTS };
    TASK_NEXT = task_next at "/api/tasks/next" { served_with: Some("teams"), ..AGENTS };
    TASK = task at "/api/tasks/{id}" { methods: "GET, HEAD, PATCH, DELETE", served_with: Some("teams"), ..AGENTS };
    TASK_CLAIM = task_claim at "/api/tasks/{id}/claim" { served_with: Some("teams"), ..AGENTS };
    TASK_COMPLETE = task_complete at "/api/tasks/{id}/complete" { served_with: Some("teams"), ..AGENTS };
    TASK_RELEASE = task_release at "/api/tasks/{id}/release" { served_with: Some("teams"), ..AGENTS };
    MESSAGES = messages { methods: "GET, HEAD, POST", served_with: Some("teams"), is_compressed: true, ..AGENTS };
    MESSAGES_READ = messages_read at "/api/messages/read" { served_with: Some("teams"), ..AGENTS };
}
