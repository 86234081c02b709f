// The package is not installed with the repository; this declares the part of it that is used.
declare module 'ai' {
  type ApprovalRequest = {
    type: 'tool-approval-request'
    approvalId: string
    toolCallId: string
    isAutomatic?: boolean
  }
  type ApprovalResponse = { type: 'tool-approval-response'; approvalId: string; approved: boolean }
  type ToolCallPart = { type: 'tool-call'; toolCallId: string; toolName: string; input: unknown }
  type OtherPart = { type: 'text' | 'file' | 'reasoning' | 'tool-result' }
  export type ModelMessage = {
    role: 'system' | 'user' | 'assistant' | 'tool'
    content: string | (ApprovalRequest | ApprovalResponse | ToolCallPart | OtherPart)[]
  }
  type Options = { toolCallId: string; messages: ModelMessage[]; abortSignal?: AbortSignal }
  type Schema = { readonly jsonSchema: object }
  export type Tool = {
    description?: string
    inputSchema: Schema
    needsApproval?: (input: Record<string, unknown>) => boolean
    execute?: (input: Record<string, unknown>, options: Options) => Promise<unknown>
  }
  export type ToolSet = Record<string, Tool>
  export function jsonSchema<Input>(schema: object): Schema & { _input?: Input }
  export function tool(described: Tool): Tool
}
