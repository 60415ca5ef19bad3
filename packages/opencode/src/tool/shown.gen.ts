// Generated from the tools by `bun run generate`. Do not edit.

export type ShownTool = { name: string; description: string; parameters: Record<string, unknown> }

export const TOOLS: readonly ShownTool[] = [
  {
    "name": "pass_over",
    "description": "Pass a bounded piece of work over to a specialist agent and get one typed, checked outcome back. It works in its own session with rights no wider than yours and a deadline. It sees only what you send. Several at once: `more`, with ordered results; or several calls in one turn.",
    "parameters": {
      "type": "object",
      "properties": {
        "subagent": {
          "type": "string",
          "description": "audit, scout, inspector or another agent"
        },
        "objective": {
          "type": "string",
          "description": "What to do and when it is done"
        },
        "reason": {
          "type": "string",
          "description": "Why, in a few words"
        },
        "background": {
          "description": "What it must know",
          "type": "string"
        },
        "files": {
          "description": "Paths that matter",
          "maxItems": 200,
          "type": "array",
          "items": {
            "type": "string"
          }
        },
        "constraints": {
          "description": "Enforced: read_only, no_network, \"paths: …\", \"commands: …\"",
          "maxItems": 50,
          "type": "array",
          "items": {
            "type": "string"
          }
        },
        "expected_output_type": {
          "type": "string",
          "enum": [
            "decision",
            "artifacts",
            "report",
            "mixed"
          ]
        },
        "priority": {
          "type": "string",
          "enum": [
            "low",
            "medium",
            "high"
          ]
        },
        "timeout_ms": {
          "type": "integer"
        },
        "model": {
          "type": "string"
        },
        "continue": {
          "description": "Id of an ended pass to the same subagent: it goes on there and knows what it did, e.g. to rework it",
          "type": "string"
        },
        "wait": {
          "description": "false: do not wait; the result comes later",
          "type": "boolean"
        },
        "return_required": {
          "type": "boolean"
        },
        "auto_apply_on_success": {
          "type": "boolean"
        },
        "override": {
          "description": "Settings to narrow for this pass",
          "type": "object",
          "propertyNames": {
            "type": "string"
          }
        },
        "more": {
          "description": "Further passes at once, side by side: objects with these fields; what one leaves out is taken from above",
          "type": "array",
          "items": {
            "type": "object",
            "properties": {}
          }
        }
      },
      "required": [
        "subagent",
        "objective",
        "reason"
      ]
    }
  },
  {
    "name": "pass_over_read",
    "description": "Read the state or the full artifacts of a pass of this session; without id, list them.",
    "parameters": {
      "type": "object",
      "properties": {
        "id": {
          "type": "string"
        },
        "offset": {
          "type": "integer"
        },
        "summary": {
          "description": "instead of the artifacts",
          "type": "string",
          "enum": [
            "bullet_points",
            "narrative",
            "decision_tree"
          ]
        },
        "focus": {
          "type": "string",
          "enum": [
            "critical",
            "all",
            "high_level"
          ]
        },
        "max_length": {
          "description": "tokens",
          "type": "integer"
        },
        "wait": {
          "description": "until it has ended",
          "type": "boolean"
        }
      }
    }
  },
  {
    "name": "pass_over_review",
    "description": "Decide about the files that a pass wants changed: accept or reject \"path\", \"path#hunk\" or \"*\", then apply, undo, or merge with what is there now. Without a decision it shows them.",
    "parameters": {
      "type": "object",
      "properties": {
        "id": {
          "type": "string",
          "description": "the pass"
        },
        "accept": {
          "maxItems": 1000,
          "type": "array",
          "items": {
            "type": "string"
          }
        },
        "reject": {
          "description": "target: reason",
          "type": "object",
          "propertyNames": {
            "type": "string"
          }
        },
        "action": {
          "type": "string",
          "enum": [
            "apply",
            "undo",
            "merge"
          ]
        }
      },
      "required": [
        "id"
      ]
    }
  },
  {
    "name": "pass_over_return",
    "description": "Return your result to the agent that passed you this work. Call it exactly once, last; plain text does not reach anyone.",
    "parameters": {
      "type": "object",
      "properties": {
        "status": {
          "type": "string",
          "enum": [
            "completed",
            "partial",
            "failed"
          ]
        },
        "decision": {
          "type": "string",
          "enum": [
            "approved",
            "rejected",
            "needs_modification",
            "blocked"
          ]
        },
        "decision_reason": {
          "type": "string"
        },
        "findings": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "severity": {
                "type": "string",
                "enum": [
                  "error",
                  "warning",
                  "info"
                ]
              },
              "category": {
                "type": "string"
              },
              "message": {
                "type": "string"
              },
              "path": {
                "type": "string"
              },
              "line": {
                "type": "integer"
              },
              "suggested_fix": {
                "type": "string"
              },
              "replaces": {
                "description": "exact text that the fix replaces",
                "type": "string"
              }
            },
            "required": [
              "severity",
              "category",
              "message"
            ]
          }
        },
        "recommendations": {
          "type": "array",
          "items": {
            "type": "string"
          }
        },
        "artifacts": {
          "description": "{type:\"file_modification\",path,reason,new_content or edits:[{old_string,new_string}]} | {type:\"decision\",question,answer:yes|no|unknown,reasoning} | {type:\"message\",content}",
          "type": "array",
          "items": {
            "type": "object",
            "properties": {}
          }
        },
        "auto_apply_allowed": {
          "type": "boolean"
        },
        "evidence": {
          "description": "What proves it; checked: {type:\"file\",path,line} | {type:\"command\",command,exit_code} | {type:\"tool\",tool} | {type:\"url\",url}",
          "type": "array",
          "items": {
            "type": "object",
            "properties": {}
          }
        }
      },
      "required": [
        "status"
      ]
    }
  },
  {
    "name": "flow",
    "description": "Run a flow: steps by several agents, with reviews and gates, as one durable run. start needs name (none: lists them) and inputs; watch and resume need run.",
    "parameters": {
      "type": "object",
      "properties": {
        "action": {
          "type": "string",
          "enum": [
            "start",
            "watch",
            "resume"
          ]
        },
        "name": {
          "type": "string"
        },
        "inputs": {
          "type": "object",
          "propertyNames": {
            "type": "string"
          }
        },
        "run": {
          "type": "string"
        },
        "wait": {
          "description": "false: its end comes later, as a message",
          "type": "boolean"
        }
      },
      "required": [
        "action"
      ]
    }
  }
]
