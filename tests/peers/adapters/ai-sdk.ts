/** Plays with the tools of the AI SDK and its mock model; each approval is asked for and answered. */
import { generateText, isStepCount, type ModelMessage } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { accountTools, termsToConfirm } from '../../../scripts/adapters/ai-sdk.ts'
import { createClient } from '../../../scripts/client/index.ts'
import { type Course, readPlay, report, scriptOf } from './play.ts'

const play = readPlay()
const { baseUrl, apiKey, deviceId } = play
const account = createClient({ baseUrl, apiKey, deviceId })
const tools = accountTools(account)
const nextCalls = scriptOf(play)
const course: Course = { given: [], asked: [], answers: [] }
let calls = 0

const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }
const usage = { inputTokens: tokens, outputTokens: { total: 1, text: 1, reasoning: 0 } }

const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt, tools: given = [] }) => {
    course.given = given.flatMap((tool) =>
      tool.type === 'function' ? [{ name: tool.name, schema: tool.inputSchema }] : [],
    )
    const last = prompt.at(-1)
    const result = last?.role === 'tool' ? last.content.at(-1) : undefined
    const output = result?.type === 'tool-result' ? result.output : undefined
    const answer = output?.type === 'json' ? output.value : output
    if (answer !== undefined) course.answers.push(answer)
    const made = nextCalls(answer).map(({ name, args }) => ({
      type: 'tool-call' as const,
      toolCallId: `call-${++calls}`,
      toolName: name,
      input: JSON.stringify(args),
    }))
    const unified = made.length > 0 ? ('tool-calls' as const) : ('stop' as const)
    return {
      content: made.length > 0 ? made : [{ type: 'text' as const, text: 'Done.' }],
      finishReason: { unified, raw: undefined },
      usage,
      warnings: [],
    }
  },
})

const messages: ModelMessage[] = [{ role: 'user', content: 'Pay, and buy.' }]
for (;;) {
  const { content, responseMessages } = await generateText({
    model,
    tools,
    messages,
    stopWhen: isStepCount(20),
    ...(play.answer === 'everything' && { toolApproval: () => 'approved' as const }),
  })
  messages.push(...responseMessages)
  const requests = content.flatMap((part) =>
    part.type === 'tool-approval-request' && !part.isAutomatic ? [part] : [],
  )
  if (requests.length === 0) break
  for (const { toolCall } of requests) {
    course.asked.push(await termsToConfirm(account, toolCall.input))
  }
  const approved = play.answer === 'yes'
  const answers = requests.map(({ approvalId }) => ({
    type: 'tool-approval-response' as const,
    approvalId,
    approved,
  }))
  messages.push({ role: 'tool', content: answers })
}
report(course)
