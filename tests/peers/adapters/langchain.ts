/** Plays with the tools of LangChain, its fake model, and the interrupts of LangGraph. */
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import {
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import * as z from 'zod'
import { accountTools } from '../../../scripts/adapters/langchain.ts'
import { createClient } from '../../../scripts/client/index.ts'
import { type Course, parseAnswer, readPlay, report, scriptOf } from './play.ts'

const play = readPlay()
const { baseUrl, apiKey, deviceId } = play
const account = createClient({ baseUrl, apiKey, deviceId })
const confirm = play.answer === 'everything' ? () => true : interrupt
const tools = accountTools(account, { confirm })
const nextCalls = scriptOf(play)
const given = tools.map((tool) => {
  const { name, parameters } = convertToOpenAITool(tool).function
  return { name, schema: parameters }
})
const course: Course = { given, asked: [], answers: [] }

const model = fakeModel()
for (let calls = 1; calls <= 20; calls += 1) {
  model.respond((messages) => {
    const last = messages.at(-1)
    const answer = last?.type === 'tool' ? parseAnswer(last.content) : undefined
    if (answer !== undefined) course.answers.push(answer)
    const made = nextCalls(answer).map((call, place) => ({ ...call, id: `call-${calls}-${place}` }))
    return made.length > 0
      ? new AIMessage({ content: '', tool_calls: made })
      : new AIMessage('Done.')
  })
}

const bound = model.bindTools(tools)
const think = async ({ messages }: { messages: BaseMessage[] }) => ({
  messages: [await bound.invoke(messages)],
})
const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', think)
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'agent')
  .addConditionalEdges('agent', toolsCondition, ['tools', END])
  .addEdge('tools', 'agent')
  .compile({ checkpointer: new MemorySaver() })

const thread = { configurable: { thread_id: 'one' }, recursionLimit: 50 }
const interrupted = z.object({
  __interrupt__: z.tuple([z.object({ value: z.object({ id: z.string(), summary: z.string() }) })]),
})
const messages = [{ role: 'user', content: 'Pay, and buy.' }]
let state: unknown = await graph.invoke({ messages }, thread)
for (;;) {
  const { data } = interrupted.safeParse(state)
  if (!data) break
  const [{ value }] = data.__interrupt__
  course.asked.push(value.summary)
  state = await graph.invoke(
    new Command({ resume: play.answer === 'yes' ? value.id : 'no' }),
    thread,
  )
}
report(course)
