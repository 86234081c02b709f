// The package is not installed with the repository; this declares the part of it that is used.
declare module 'ai/test' {
  type Output = { type: 'json'; value: unknown } | { type: 'execution-denied' }
  type PromptMessage =
    | { role: 'user' | 'assistant' | 'system' }
    | { role: 'tool'; content: ({ type: 'tool-result'; output: Output } | { type: 'other' })[] }
  type Content =
    | { type: 'text'; text: string }
    | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }
  type GivenTool = { type: 'function'; name: string; inputSchema: object } | { type: 'provider' }
  type Generated = {
    content: Content[]
    finishReason: { unified: 'tool-calls' | 'stop'; raw: undefined }
    usage: object
    warnings: []
  }
  export class MockLanguageModelV4 {
    constructor(options: {
      doGenerate: (call: { prompt: PromptMessage[]; tools?: GivenTool[] }) => Promise<Generated>
    })
  }
}
