# `coord serve` for a team's own host: docs/guide/deploy.md.
#   docker build --tag coord .
FROM rust:1.95-slim-trixie AS build
WORKDIR /coord
COPY . .
# The binary contains the list of its crates, as a release does: `cargo audit bin coord`.
RUN cargo install --locked --version 0.7.7 cargo-auditable \
    && cargo auditable install --locked --path cli --root /installed

FROM debian:trixie-slim
# git is for `--fetch`, curl for the health check.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates curl git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /data --no-create-home coord \
    && install --directory --owner coord --group coord /data
COPY --from=build /installed/bin/coord /usr/local/bin/coord
LABEL org.opencontainers.image.source="https://github.com/coord-dev/coord" \
    org.opencontainers.image.licenses="MIT OR Apache-2.0"
USER 10001
# Stores without a folder of their own are below it, too.
ENV XDG_STATE_HOME=/data
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "http://127.0.0.1:3000/api/health"]
ENTRYPOINT ["coord"]
# An address that others reach: callers need credentials.
CMD ["serve", "--listen", "0.0.0.0:3000", "--data-dir", "/data"]
