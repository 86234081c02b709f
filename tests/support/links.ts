/** Hosted links without their pages: the SQL calls that a browser with a link causes. */
import * as z from 'zod'
import { sha256Hex } from '../../shared/digest.ts'
import { actionSchema } from '../../shared/hosted/action.ts'
import { linkDigest } from '../../shared/hosted/link.ts'
import type { Agent, TestWorld } from './world.ts'

const madeSchema = z.object({ url: z.url(), action_id: z.uuid(), expires_at: z.string() })
const seenSchema = z.array(
  z.object({
    action: actionSchema.nullable(),
    alias: z.string(),
    address: z.string().nullable(),
  }),
)

export type Made = z.output<typeof madeSchema>
type Verb = 'look' | 'open' | 'decline' | 'connect' | 'verify'

/** Has the agent create a link. */
export async function linkOf(agent: Agent, order: Record<string, unknown>): Promise<Made> {
  const { status, body } = await agent.post('/create-hosted-action', order)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return madeSchema.parse(body)
}

/** Returns the status that the agent is given. */
export async function statusOf(agent: Agent, { action_id }: Made) {
  return (await agent.get(`/hosted-action-status?action_id=${action_id}`)).body
}

/** Returns a browser that holds this link and answers the page's facts, or undefined for no link. */
export function browserOf(world: TestWorld, { url }: Pick<Made, 'url'>, name: string) {
  return async (verb: Verb, more: { wallet?: string } = {}) => {
    const token_digest = await linkDigest(world.world.config, url.split('/').at(-1) ?? '')
    const args = { token_digest, browser: await sha256Hex(name), client: name, ...more }
    const [seen] = seenSchema.parse(await world.world.db.call(`link_${verb}`, args))
    return seen
  }
}
