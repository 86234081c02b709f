// The package is not installed with the repository; this declares the part of it that is used.
declare module '@openai/agents' {
  export type RunContext = {
    isToolApproved(asked: { toolName: string; callId: string }): boolean | undefined
  }
  type Details = { toolCall?: { callId: string }; signal?: AbortSignal }
  export type FunctionTool = { name: string; parameters: object }
  type Properties = Record<string, Record<string, unknown>>
  export function tool(described: {
    name: string
    description: string
    parameters: {
      type: 'object'
      properties: Properties
      required: string[]
      additionalProperties: true
    }
    strict: false
    needsApproval: (context: RunContext, input: unknown) => Promise<boolean>
    execute: (input: unknown, context?: RunContext, details?: Details) => Promise<unknown>
  }): FunctionTool
}
