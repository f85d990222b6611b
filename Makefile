# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format docs bench policy-environment franka-sim-environment test-policies clean distclean

ARGS ?=
ROBOT ?= so101

help: ## What can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  ARGS='...' is passed on to demo, test and bench; PYTHON=... chooses the Python of .venv."

setup: ## The environment .venv/ and the colcon overlay install/ (then: source env.bash)
	@scripts/setup.sh

demo: ## A simulated arm picks and places for 5 episodes: live metrics, bags, a report (ROBOT=so101, fr3 or fr3-fci)
	@scripts/setup.sh demo $(ROBOT)
	@source env.bash && frame-ros demo --robot $(ROBOT) $(ARGS)

test: ## All tests
	@scripts/setup.sh
	@scripts/test.sh $(ARGS)

lint: ## Style, formatting and types
	@scripts/setup.sh
	@scripts/lint.sh

format: ## Puts the formatting right
	@scripts/setup.sh
	@source env.bash && ruff check --fix . && ruff format .

docs: ## The documentation as HTML, in docs/_build/html
	@scripts/setup.sh
	@source env.bash && python -m sphinx --fail-on-warning --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: ## Every benchmark, hours of it; ARGS=--short shows in minutes that they work
	@scripts/setup.sh
	@scripts/benchmarks.sh $(ARGS)

policy-environment: ## .venv-policy/ for `frame-ros serve`: Python 3.12 or 3.13, LeRobot 0.6, no ROS (several GB)
	@scripts/policy_environment.sh

franka-sim-environment: ## .venv-franka-sim/ for benchmarks/franka_sim.py: Python 3.11 or 3.12, franka-sim
	@scripts/franka_sim_environment.sh

test-policies: ## The tests of policies in .venv-policy: the families that LeRobot 0.4 does not have
	@scripts/policy_environment.sh tests
	@OMP_NUM_THREADS=1 .venv-policy/bin/python -m pytest test/policies $(ARGS)

clean: ## Removes what was built; keeps .venv and recorded runs
	rm -rf build install log docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path "./.venv*" -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

distclean: clean ## Removes .venv, .venv-policy and .venv-franka-sim too
	rm -rf .venv .venv-policy .venv-franka-sim
