# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by setup.sh, which sets LOG: what is told while steps run whose output goes to the log. On a terminal one
# line shows the time and the last line of the log; elsewhere such a line is printed every 15 s.

say() {
  if [ -t 1 ]; then printf '\r\033[K'; fi
  echo "[frame_ros] $*"
}

# What is wrong, then how to mend it.
die() {
  if [ -t 1 ]; then printf '\r\033[K'; fi
  echo "[frame_ros] ERROR: $1" >&2
  shift
  printf '            %s\n' "$@" >&2
  exit 1
}

# Runs a command with its output in the log.
run_logged() {
  echo "+ $*" >>"$LOG"
  "$@" >>"$LOG" 2>&1 </dev/null
}

# The same; shows the end of the log if it fails.
logged() {
  run_logged "$@" && return
  tail -n 40 "$LOG" >&2
  die "this failed: $*" "Its output is above, and in full in $LOG."
}

duration() { if [ "$1" -lt 60 ]; then echo "${1}s"; else echo "$(($1 / 60))m$(printf %02d $(($1 % 60)))s"; fi; }

# The last line of the log that says what is being done: no warning, no step of make into a folder.
newest_line() { tail -n 50 "$LOG" | tr -d '\r' | grep -vE '^ *(WARNING|DEPRECATION):|^g?make\[' | tail -n 1 | cut -c-100; }

# Prints, until it is ended, the time since `started` and what the log ends with.
watch_log() {
  local form='            %s  %s\n' pause=15
  if [ -t 1 ]; then form='\r\033[K            %s  %s' pause=1; fi
  while sleep "$pause" >/dev/null 2>&1 && kill -0 $$; do
    # shellcheck disable=SC2059
    printf "$form" "$(duration $((SECONDS - started)))" "$(newest_line)"
  done
}

end_watching() {
  [ -n "${watcher:-}" ] || return 0
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  watcher=''
}
trap end_watching EXIT

# Runs a step of a plan. $1: its number; $2: how many there are; $3: what it does; the rest: the command.
run_step() {
  local started=$SECONDS what="[$1/$2] $3"
  shift 3
  say "$what"
  watch_log &
  watcher=$!
  "$@"
  end_watching
  say "$what: $(duration $((SECONDS - started)))"
}
