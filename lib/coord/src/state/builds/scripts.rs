//! The scripts.

use crate::store::script::scripts;

scripts! {
    /// One builder at a time.
    LEASE_BUILD = "lease_build", repeatable: true;
    /// Notes that somebody asks about a graph.
    TOUCH_GRAPH = "touch_graph", repeatable: true;
    /// Tells how far a build is.
    REPORT_BUILD = "report_build", repeatable: true;
    /// Writes a part of a new graph beside the old one.
    STAGE_GRAPH = "stage_graph", repeatable: true;
    /// Puts the new graph in the place of the old one.
    PUBLISH_GRAPH = "publish_graph", repeatable: false;
    /// Turns the stored graph into another by what differs.
    PATCH_GRAPH = "patch_graph", repeatable: false;
    /// Notes why a build failed.
    FAIL_BUILD = "fail_build", repeatable: true;
    /// Gives the lease on a build back.
    RETURN_LEASE = "return_lease", repeatable: true;
    /// Notes that the stored graph cannot be read.
    DISCARD_GRAPH = "discard_graph", repeatable: true;
}
