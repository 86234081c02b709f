// The package is not installed with the repository; this declares the parts of it that only tests use.
import type { ModelMessage, ToolSet } from 'ai'

declare module 'ai' {
  type ApprovalRequestPart = {
    type: 'tool-approval-request'
    approvalId: string
    isAutomatic?: boolean
    toolCall: { toolName: string; input: unknown }
  }
  export function isStepCount(count: number): unknown
  export function generateText(options: {
    model: object
    tools: ToolSet
    messages: ModelMessage[]
    stopWhen: unknown
    toolApproval?: () => 'approved'
  }): Promise<{
    content: (ApprovalRequestPart | { type: 'text' })[]
    responseMessages: ModelMessage[]
  }>
}
