// The package is not installed with the repository; this declares the part of it that is used.
declare module '@langchain/core/tools' {
  export interface StructuredToolInterface {
    name: string
    schema: unknown
    invoke(input: object): Promise<unknown>
  }
  type Config = {
    signal?: AbortSignal
    toolCall?: { id?: string }
    configurable?: Record<string, unknown>
  }
  export class DynamicStructuredTool implements StructuredToolInterface {
    name: string
    schema: unknown
    constructor(fields: {
      name: string
      description: string
      schema: { type: 'object'; properties: object }
      func: (input: Record<string, unknown>, manager?: unknown, config?: Config) => Promise<string>
    })
    invoke(input: object): Promise<unknown>
  }
}
