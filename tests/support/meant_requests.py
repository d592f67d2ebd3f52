# SPDX-License-Identifier: Apache-2.0
"""Requests that mean something: a lake with a little in it, and how each operation names it.

A generator of requests knows shapes and no names. What it makes is laid over with these, so that
operations also succeed and their answers can be looked at.
"""

from dataclasses import dataclass, field
from typing import Any

from support.web import Api
from support.web_pipelines import drive, said

LAKE = "/repositories/lake"
PIPELINE = """\
pipeline: {name}
input: {{repo: {{name: text, repo: lake, glob: "/**"}}}}
transform: {{files: "steps:count"}}
output: {{repo: {name}}}
"""
RULE = {"effect": "allow", "action": ["fs:Read*"], "resource": "*"}


@dataclass(frozen=True)
class Meant:
    """What a request to an operation says, whatever else is in it."""

    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)


class SmallLake:
    """A repository, a user, a group, a policy; made again as far as something is gone."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.made = 0

    def make(self) -> None:
        """Make what is missing, and a change on each branch."""
        self.made += 1
        if self.api.get(LAKE).status_code != 200:
            namespace = f"local://lake-{self.made}"
            told = {"name": "lake", "storage_namespace": namespace}
            assert self.api.post("/repositories", json=told).status_code == 201
        for name in ("other", "spare"):
            self.api.post(f"{LAKE}/branches", json={"name": name, "source": "main"})
        for name, path in (("main", "a/b"), ("other", f"c/{self.made}")):
            content = f"{self.made}".encode()
            at = f"{LAKE}/branches/{name}"
            self.api.post(f"{at}/objects", params={"path": path}, body=content)
            self.api.post(f"{at}/commits", json={"message": f"change {self.made}"})
        self.api.post(f"{LAKE}/tags", json={"id": "v1", "ref": "main"})
        rules = {"default_retention_days": 7, "branches": []}
        self.api.put(f"{LAKE}/settings/gc_rules", json=rules)
        self.api.post("/auth/users", json={"id": "bob"})
        self.api.post("/auth/groups", json={"id": "crew"})
        self.api.post("/auth/policies", json={"id": "look", "statement": [RULE]})
        self.api.put("/auth/groups/crew/members/bob")
        self.api.put("/auth/groups/crew/policies/look")
        self.api.put("/auth/users/bob/policies/look")
        self.api.post("/pipelines", json=said(PIPELINE.format(name="count")))

    def names(self) -> dict[str, str]:
        """Give what is there, by the names of path parameters."""
        return {
            "repository": "lake",
            "branch": "main",
            "ref": "main",
            "leftRef": "main",
            "rightRef": "other",
            "sourceRef": "other",
            "destinationBranch": "main",
            "commitId": "main",
            "tag": "v1",
            "userId": "bob",
            "groupId": "crew",
            "policyId": "look",
            "partNumber": "1",
            "pipeline": "count",
        }

    def meant(self, operation_id: str) -> Meant:
        """Give what makes sense of an operation's request, where it needs anything."""
        match operation_id:
            case "login":
                issued = self.api.credential
                assert issued is not None
                key, secret = issued.access_key_id, issued.secret_access_key
                return Meant(body={"access_key_id": key, "secret_access_key": secret})
            case "createPolicy":
                return Meant(body={"id": f"policy-{self.made}", "statement": [RULE]})
            case "updatePolicy":
                return Meant(body={"id": "look", "statement": [RULE]})
            case "getCredentials" | "deleteCredentials":
                key = self.api.post("/auth/users/bob/credentials").json["access_key_id"]
                return Meant(path={"accessKeyId": key})
            case "internalDeleteBranchProtectionRule":
                told = {"pattern": f"guarded-{self.made}"}
                self.api.post(f"{LAKE}/branch_protection", json=told)
                return Meant(body=told)
            case "createBranch":
                return Meant(body={"name": f"branch-{self.made}", "source": "main"})
            case "deleteBranch":
                return Meant(path={"branch": "spare"})
            case "createTag":
                return Meant(body={"id": f"tag-{self.made}", "ref": "main"})
            case "revertBranch":
                return Meant(body={"ref": "main", "parent_number": 0})
            case "commit":
                return Meant(body={"allow_empty": True, "date": None})
            case "cherryPick":
                return Meant(body={"ref": "other", "parent_number": None})
            case "mergeIntoBranch":
                return Meant(body={"strategy": "source-wins"})
            case "copyObject":
                return Meant(body={"src_path": "a/b", "src_ref": "main"})
            case "renameObjects":
                return Meant(body={"source": "a/b", "destination": "d/e", "overwrite": True})
            case "statObject" | "getObject" | "headObject" | "getUnderlyingProperties":
                return Meant(query={"path": "a/b"})
            case "updateObjectUserMetadata":
                return Meant(query={"path": "a/b"})
            case "getMetaRange":
                return Meant(path={"meta_range": self.meta_range()})
            case "getMetadataObject":
                return Meant(path={"type": "meta_range", "object_id": self.meta_range()})
            case "dumpStatus":
                task = self.api.post(f"{LAKE}/dump").json["id"]
                return Meant(query={"task_id": task})
            case "collectionStatus":
                task = self.api.post(f"{LAKE}/gc/runs", json={"plan": True}).json["id"]
                return Meant(query={"task_id": task})
            case "storageReportStatus":
                task = self.api.post(f"{LAKE}/storage_report", json={}).json["id"]
                return Meant(query={"task_id": task})
            case _:
                return self.meant_by_verbs_of_2016(operation_id)

    def meant_by_verbs_of_2016(self, operation_id: str) -> Meant:
        """Give the same for our own operations."""
        match operation_id:
            case "finishCommit" | "cancelCommit":
                return Meant(body={"id": self.open_commit()})
            case "putFile" | "deleteFile":
                return Meant(query={"commit": self.open_commit(), "path": "a/b"})
            case "inspectCommit" | "getClocks":
                return Meant(query={"commit": "main"})
            case "diffs" | "listFile":
                return Meant(query={"commit": "main", "path": "", "after": ""})
            case "history":
                return Meant(query={"to_commit": "main", "from_commit": "", "after": ""})
            case "getHistorySpans":
                return Meant(query={"to_commit": "main", "from_commit": ""})
            case "getFile" | "inspectFile":
                return Meant(query={"path": "a/b", "to_commit": "main", "from_commit": ""})
            case "mergeCommits":
                told = {"from_commits": ["other"], "branch": "main", "parent": None}
                return Meant(body=told)
            case "getKinship":
                return Meant(query={"one": "main", "other": "other"})
            case _:
                return self.meant_by_pipelines(operation_id)

    def meant_by_pipelines(self, operation_id: str) -> Meant:
        """Give the same for pipelines and their jobs."""
        match operation_id:
            case "createPipeline" | "checkPipeline":
                return Meant(body=said(PIPELINE.format(name=f"count-{self.made}")))
            case "updatePipeline":
                return Meant(body=said(PIPELINE.format(name="count")))
            case "runPipeline":
                return Meant(body={"branch": "", "commits": {}})
            case "listJobs":
                return Meant(query={"after": ""})
            case "getJobSet":
                return Meant(path={"job_set": self.job_set()["id"]})
            case "getJob" | "stopJob" | "getJobLogs" | "getJobEvents" | "listShards":
                return Meant(path={"job": self.job_set()["jobs"][0]["id"]})
            case "listDatums":
                return Meant(path={"job": self.job_set()["jobs"][0]["id"]}, query={"after": ""})
            case "showShard":
                return Meant(path={"job": self.job_with_shard(), "shard": "0"})
            case "getProvenance":
                return Meant(query={"path": ""})
            case _:
                return Meant()

    def job_set(self) -> Any:  # noqa: ANN401 - JSON
        """Ask for a run."""
        return self.api.post("/pipelines/count/runs").json

    def open_commit(self) -> str:
        """Begin a commit, and give its id."""
        opened: str = self.api.post(f"{LAKE}/pfs/start-commit").json["id"]
        return opened

    def meta_range(self) -> str:
        """Name the tree of the main branch."""
        found: str = self.api.get(f"{LAKE}/commits/main").json["meta_range_id"]
        return found

    def job_with_shard(self) -> str:
        """Have a job run that found something to do, whatever others have asked for before."""
        lake, found = self.api.services.lake, None
        for number in range(3):
            drive(lake)  # what others asked for would take the change
            at = f"{LAKE}/branches/main"
            content = f"not read yet, {self.made}, {number}".encode()
            self.api.post(f"{at}/objects", params={"path": "a/b"}, body=content)
            self.api.post(f"{at}/commits", json={"message": "for a shard"})
            drive(lake)  # what others asked for would take our datums
            self.make()
            job: str = self.job_set()["jobs"][0]["id"]
            drive(lake)
            found = self.api.get(f"/jobs/{job}").json
            if self.api.get(f"/jobs/{job}/shards").json["results"]:
                return job
        raise AssertionError(f"no job had anything to do, the last one: {found}")
