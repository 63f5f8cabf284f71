"""The Agent Plugin of packaging/agents against the schemas of Agent Plugins 1.0.0: manifests.py FOLDER.

The package agent-plugins has them. One line a manifest; what is wrong ends the run.
"""

import sys
from importlib.metadata import version
from pathlib import Path

from agent_plugins import Manifest, MCPConfig

plugin = Path(sys.argv[1]) / "agent-plugin"
manifest = Manifest(plugin / "plugin.json")
servers = MCPConfig(plugin / "mcp.json", manifest)
for name, part in {"plugin.json": manifest, "mcp.json": servers}.items():
    if part.issues:
        sys.exit(f"agent-plugin/{name}: " + "; ".join(str(issue) for issue in part.issues))
    print(f"ok agent-plugins-{version('agent-plugins')} {name} {part.schema}")
if list(servers.servers) != ["remembrancer"]:
    sys.exit(f"agent-plugin/mcp.json names other servers: {list(servers.servers)}")
