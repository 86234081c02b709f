// The packages are not installed with the repository; this declares the parts of them that are used.
declare module '@langchain/core/messages' {
  export class BaseMessage {
    readonly type: string
    readonly content: unknown
  }
  type ToolCall = { id: string; name: string; args: Record<string, unknown> }
  export class AIMessage extends BaseMessage {
    constructor(fields: string | { content: string; tool_calls: ToolCall[] })
  }
}

declare module '@langchain/core/testing' {
  import type { AIMessage, BaseMessage } from '@langchain/core/messages'

  type FakeModel = {
    respond(answer: (messages: BaseMessage[]) => BaseMessage): FakeModel
    bindTools(tools: object[]): { invoke(messages: BaseMessage[]): Promise<AIMessage> }
  }
  export function fakeModel(): FakeModel
}

declare module '@langchain/core/utils/function_calling' {
  export function convertToOpenAITool(tool: object): {
    function: { name: string; parameters?: object }
  }
}

declare module '@langchain/langgraph' {
  import type { BaseMessage } from '@langchain/core/messages'

  type Node = object | ((state: { messages: BaseMessage[] }) => Promise<object>)
  type Input = Command | { messages: { role: string; content: string }[] }
  export class StateGraph {
    constructor(annotation: object)
    addNode(name: string, node: Node): this
    addEdge(from: string, to: string): this
    addConditionalEdges(from: string, condition: object, to: string[]): this
    compile(options: { checkpointer: MemorySaver }): {
      invoke(input: Input, config: object): Promise<unknown>
    }
  }
  export class MemorySaver {}
  export class Command {
    constructor(options: { resume: string })
  }
  export const MessagesAnnotation: object
  export const START: string
  export const END: string
  export function interrupt(value: unknown): unknown
}

declare module '@langchain/langgraph/prebuilt' {
  export class ToolNode {
    constructor(tools: object[])
  }
  export const toolsCondition: object
}
