#!/usr/bin/env bash
# What action.yml runs: a hunt that fails on new bugs only, with a JUnit file and the job's summary. Inputs come as
# variables ISOLDE_ACTION_…; nothing in them is evaluated by the shell.
set -euo pipefail
read -r -a command <<< "$ISOLDE_ACTION_COMMAND"
read -r -a options <<< "${ISOLDE_ACTION_OPTIONS:-}"
exec "${command[@]}" hunt "$ISOLDE_ACTION_TARGET" --for "$ISOLDE_ACTION_FOR" --store "$ISOLDE_ACTION_STORE" \
  --only-new --junit "$ISOLDE_ACTION_JUNIT" --summary "${GITHUB_STEP_SUMMARY:-/dev/null}" "${options[@]}"
