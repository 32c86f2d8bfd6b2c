// The schemas of opencode-teams' data model, for zod 3.24.

import { z } from "zod";

const time = z.string().datetime();
const text = z.string();
const word = z.string().min(1);

export const Message = z.object({
  from: word,
  to: word,
  message: text,
  type: z.enum(["plain", "idle", "task_assignment", "shutdown_request", "shutdown_approved"]).default("plain"),
  timestamp: time,
  read: z.boolean().default(false),
  summary: text.optional(),
  recipients: z.array(text).optional(),
});

export const Task = z.object({
  id: word,
  title: text.default("Untitled Task"),
  description: text.optional(),
  priority: z.enum(["high", "normal", "low"]).default("normal"),
  status: z.enum(["pending", "in_progress", "completed"]),
  createdAt: time,
  updatedAt: time.optional(),
  owner: text.optional(),
  claimedAt: time.optional(),
  completedAt: time.optional(),
  dependencies: z.array(text).default([]),
  blocks: z.array(text).default([]),
  warning: text.optional(),
});

export const Config = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]+$/, "Team name must be alphanumeric with hyphens/underscores"),
  created: time,
  leader: word,
  members: z.array(z.object({ agentId: word, agentName: word, agentType: word, joinedAt: time })).min(1),
  shutdownApprovals: z.array(text).optional(),
  topology: z.enum(["flat", "hierarchical"]).optional(),
  description: text.optional(),
  templateSource: text.optional(),
  roles: z
    .array(
      z.object({
        name: text,
        allowedTools: z.array(text).optional(),
        deniedTools: z.array(text).optional(),
        description: text.optional(),
      }),
    )
    .optional(),
  workflowConfig: z
    .object({
      enabled: z.boolean().default(false),
      taskThreshold: z.number().default(5),
      workerRatio: z.number().default(3.0),
      cooldownSeconds: z.number().default(300),
      lastSuggestionAt: text.optional(),
    })
    .optional(),
  dispatchRules: z.array(z.any()).default([]),
  dispatchLog: z.array(z.any()).default([]),
});
