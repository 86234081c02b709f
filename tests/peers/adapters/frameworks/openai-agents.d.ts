// The package is not installed with the repository; this declares the parts of it that only tests use.
import type { FunctionTool } from '@openai/agents'

declare module '@openai/agents' {
  type Output =
    | { type: 'function_call'; callId: string; name: string; arguments: string }
    | {
        type: 'message'
        role: 'assistant'
        status: 'completed'
        content: { type: 'output_text'; text: string }[]
      }
  type GivenTool = { type: 'function'; name: string; parameters: object } | { type: 'hosted_tool' }
  export class Usage {}
  export type Model = {
    getResponse(request: { input: string | unknown[]; tools: GivenTool[] }): Promise<{
      usage: Usage
      output: Output[]
    }>
    getStreamedResponse(): never
  }
  export class Agent {
    constructor(options: { name: string; model: Model; tools: FunctionTool[] })
  }
  type Interruption = { arguments?: string | undefined }
  type State = {
    approve(item: Interruption, options: { alwaysApprove: boolean }): void
    reject(item: Interruption): void
  }
  type Result = { interruptions: Interruption[]; state: State }
  export class Runner {
    constructor(options: { tracingDisabled: boolean })
    run(agent: Agent, input: string | State, options: object): Promise<Result>
  }
}
