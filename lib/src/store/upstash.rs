//! Upstash Redis over REST.
