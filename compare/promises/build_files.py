"""Build files: what stands beside a program in its folder, and the one command that runs it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heuristics.shipped.consumers.library import go_driver_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>reproduction</groupId>
  <artifactId>{name}</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>1.7.36</version>
    </dependency>
    <dependency>
      <groupId>org.junit.jupiter</groupId>
      <artifactId>junit-jupiter</artifactId>
      <version>5.11.4</version>
    </dependency>
  </dependencies>
  <build>
    <testSourceDirectory>${{project.basedir}}</testSourceDirectory>
    <plugins>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>3.5.2</version>
        <configuration>
          <printSummary>false</printSummary>
        </configuration>
      </plugin>
      <plugin>
        <artifactId>maven-compiler-plugin</artifactId>
        <version>3.13.0</version>
      </plugin>
    </plugins>
  </build>
</project>
"""


@dataclass(frozen=True)
class BuildFiles:
    """The files, names to texts, and the command to give in their folder."""

    files: Mapping[str, str]
    command: str


def maven(name: str, artifact: str, version: str) -> BuildFiles:
    """Return the build of a JUnit test against an artifact of Kafka."""
    return BuildFiles(
        {"pom.xml": _POM.format(name=name, artifact=artifact, version=version)}, "mvn -q test"
    )


def pip(needs: tuple[str, ...]) -> BuildFiles:
    """Return the requirements of a pytest module."""
    text = "".join(f"{one}\n" for one in (*needs, "pytest"))
    return BuildFiles(
        {"requirements.txt": text}, "pip install -q -r requirements.txt && pytest -q"
    )


def go(client: str, version: str) -> BuildFiles:
    """Return the module of a Go test: with recorded checksums for the version that has them."""
    driver = go_driver_of(client)
    text = (driver.folder / "go.mod").read_text("utf-8")
    lines = ["module reproduction", *text.splitlines()[1:]]
    if driver.is_recorded(version):
        sums = (driver.folder / "go.sum").read_text("utf-8")
        return BuildFiles({"go.mod": "\n".join(lines) + "\n", "go.sum": sums}, "go test")
    asked = ["module reproduction", "", *(line for line in lines if line.startswith("go "))]
    asked += ["", f"require {driver.module} v{version}", ""]
    return BuildFiles({"go.mod": "\n".join(asked)}, "go mod tidy && go test")


def npm(package: str, version: str, file: str) -> BuildFiles:
    """Return the package of a test for Node's own runner."""
    named = {
        "private": True,
        "scripts": {"test": f"node --test {file}"},
        "dependencies": {package: version},
    }
    return BuildFiles({"package.json": json.dumps(named, indent=2) + "\n"}, "npm install-test")
