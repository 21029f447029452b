"""The steps that show a person that the product works: the policies, one answer, the addresses."""

import sys

from larkfield.launch.children import wait_for_end
from larkfield.launch.demo import DEMO_NAME, Demo
from larkfield.launch.errors import CannotLaunch
from larkfield.launch.question import ask, words_of
from larkfield.launch.starting import Launch


def load_corpus(this: Launch, demo: Demo) -> None:
    """The 36 policies are published, or the reason why not has been said."""
    command = [sys.executable, "manage.py", "loadcorpus", "--api", this.api]
    child = this.children.start(
        "loadcorpus",
        command,
        {**this.environment, "LARKFIELD_TOKEN": demo.token},
        shown=True,
        lasting=False,
    )
    code = wait_for_end(child, this.attend)
    this.children.forget(child)
    if code:
        this.say.fault(f"loading the policies ended with exit code {code}; serving what is there")
    else:
        this.say.step("policies", "published")


def show_answer(this: Launch, demo: Demo) -> None:
    """One question was asked and its answer shown, or the reason why not."""
    this.say.heading("One question")
    try:
        lines = words_of(ask(this.api, demo.token, this.pause))
    except CannotLaunch as error:
        this.say.fault(str(error))
        return
    for line in lines:
        this.say.line(line)


def show_addresses(this: Launch, demo: Demo) -> None:
    this.say.heading("Addresses")
    for name, where in (
        ("pages", f"{this.api}/  (user {DEMO_NAME}, password in {this.short(demo.password_path)})"),
        ("API docs", f"{this.api}/api/docs"),
        ("health", f"{this.api}/readyz"),
        ("metrics", f"{this.api}/metrics"),
        ("provider", this.environment["PROVIDER_BASE_URL"]),
        ("token", f"in {this.short(demo.token_path)}: Authorization: Bearer …"),
        ("logs", this.short(this.var / "log")),
    ):
        this.say.line(f"  {name:<9} {where}")
    this.say.line("\nServing until Ctrl-C.")
