/** Plays with the tools of the OpenAI Agents SDK and a model of its interface that follows the script. */
import { Agent, type Model, Runner, Usage } from '@openai/agents'
import * as z from 'zod'
import { accountTools, termsToConfirm } from '../../../scripts/adapters/openai-agents.ts'
import { createClient } from '../../../scripts/client/index.ts'
import { type Course, parseAnswer, readPlay, report, scriptOf } from './play.ts'

const play = readPlay()
const { baseUrl, apiKey, deviceId } = play
const account = createClient({ baseUrl, apiKey, deviceId })
const nextCalls = scriptOf(play)
const course: Course = { given: [], asked: [], answers: [] }
let calls = 0

const toolResult = z.object({
  type: z.literal('function_call_result'),
  output: z.union([z.string(), z.object({ text: z.string() }).transform(({ text }) => text)]),
})

const finished = {
  type: 'message' as const,
  role: 'assistant' as const,
  status: 'completed' as const,
  content: [{ type: 'output_text' as const, text: 'Done.' }],
}

const model: Model = {
  getResponse: async ({ input, tools }) => {
    course.given = tools.flatMap((tool) =>
      tool.type === 'function' ? [{ name: tool.name, schema: tool.parameters }] : [],
    )
    const last = typeof input === 'string' ? undefined : input.at(-1)
    const answer = parseAnswer(toolResult.safeParse(last).data?.output)
    if (answer !== undefined) course.answers.push(answer)
    const made = nextCalls(answer).map(({ name, args }) => ({
      type: 'function_call' as const,
      callId: `call-${++calls}`,
      name,
      arguments: JSON.stringify(args),
    }))
    const output = made.length > 0 ? made : [finished]
    return { usage: new Usage(), output }
  },
  getStreamedResponse: () => {
    throw new Error('this model does not stream')
  },
}

const agent = new Agent({ name: 'buyer', model, tools: accountTools(account) })
const runner = new Runner({ tracingDisabled: true })
const options = { maxTurns: 20 }
let result = await runner.run(agent, 'Pay, and buy.', options)
while (result.interruptions.length > 0) {
  const { state } = result
  for (const item of result.interruptions) {
    const input: unknown = JSON.parse(item.arguments ?? '')
    course.asked.push(await termsToConfirm(account, input))
    if (play.answer === 'no') state.reject(item)
    else state.approve(item, { alwaysApprove: play.answer === 'everything' })
  }
  result = await runner.run(agent, state, options)
}
report(course)
