/** The two ways in which an agent calls an operation. */
import { expect } from 'vitest'
import * as z from 'zod'
import { address, type Fetch, modern } from '../mcp.ts'
import type { Agent, Answer } from '../world.ts'
import { hold } from './heard.ts'

const told = z.object({
  result: z.looseObject({
    isError: z.boolean().optional(),
    content: z.array(z.object({ text: z.string() })),
    structuredContent: z.record(z.string(), z.unknown()).optional(),
  }),
})
const jsonObject = z.record(z.string(), z.unknown())

/** Calls an operation and checks its answer. */
export type Caller = (agent: Agent, operation: string, input?: object) => Promise<Answer>

/** Calls as an agent that sends its own HTTP requests. */
export const byHttp: Caller = async (agent, operation, input = {}) => {
  const path = `/${operation.replaceAll('_', '-')}`
  const isRead =
    /^(mail_(list|read)|hosted_action_status|wallet_activity_list|vault_list|get_identity)$/.test(
      operation,
    )
  const query = new URLSearchParams(
    Object.entries(input).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const answer = await (isRead ? agent.get(`${path}?${query.toString()}`) : agent.post(path, input))
  hold(answer)
  return answer
}

/** Calls as an agent whose client has the tools; text and structured content must agree. */
export function byTools(fetch: Fetch): Caller {
  return async (agent, name, input = {}) => {
    const params = { name, arguments: input }
    const answer = await fetch(address, modern(agent.key, 'tools/call', params))
    const { result } = told.parse(await answer.json())
    const body = jsonObject.parse(JSON.parse(result.content[0]?.text ?? ''))
    expect(result.structuredContent ?? body).toEqual(body)
    const isLost = ['internal_error', 'unavailable'].includes(String(body['error']))
    const status = isLost ? 500 : result.isError ? 400 : 200
    hold({ status, body })
    return { status, body, headers: answer.headers }
  }
}
