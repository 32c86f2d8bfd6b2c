#!/bin/sh
# What the sessions of examples/sessions.md play with. `sh docs/shop.sh FOLDER` makes the new folder with
#   remote.git     where people push; it stands for https://github.com/acme/shop, which is never reached
#   ada, bob       a working copy for each of two agents: worktrees of one clone
set -eu
mkdir "$1"
cd "$1"
folder=$(pwd)
git init --quiet --bare --initial-branch=main remote.git
git init --quiet --initial-branch=main ada
cd ada
git config user.name 'An agent'
git config user.email agent@example.com
git config commit.gpgSign false
git config "url.$folder/remote.git.insteadOf" https://github.com/acme/shop.git
git remote add origin https://github.com/acme/shop.git
mkdir src
cat >src/db.ts <<'TS'
export const query = (sql: string) => [sql];
TS
cat >src/auth.ts <<'TS'
import { query } from "./db";
export const login = (name: string) => query(name);
TS
git add --all
git commit --quiet --message 'Log in with a name'
git push --quiet --set-upstream origin main
git worktree add --quiet --track -b bob ../bob origin/main
echo "$folder/ada and $folder/bob are ready"
