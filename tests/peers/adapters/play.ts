/** Parts of all programs beside this: their settings, and a model that follows a script. */
import * as z from 'zod'

const play = z.object({
  baseUrl: z.url(),
  apiKey: z.string(),
  deviceId: z.string(),
  recipient: z.string(),
  /** Recipient whom the account pays without a confirmation. */
  known: z.string(),
  amount: z.string(),
  shop: z.url(),
  /** `everything`: the program approves all calls at once, so that no person sees the terms. */
  answer: z.enum(['yes', 'no', 'everything']),
})

/** Account, what is bought, and what the user answers. */
export type Play = z.output<typeof play>

/** A call of the model. */
export type Call = { name: string; args: Record<string, unknown> }

/** Reads the settings, which are the first argument. */
export function readPlay(): Play {
  return play.parse(JSON.parse(process.argv[2] ?? ''))
}

const confirming = z.object({
  next: z.object({
    tool: z.string(),
    arguments: z.looseObject({ user_confirmed: z.literal(true) }),
  }),
})

/**
 * Makes the model: it goes through its script, and confirms each payment once where an answer asks for that. In the
 * message that confirms the purchase it also makes a small transfer, which needs no confirmation.
 */
export function scriptOf({ recipient, known, amount, shop }: Play): (answer: unknown) => Call[] {
  const order = { recipient, chain: 'base-sepolia', token: 'USDC', amount }
  const script: Call[] = [
    { name: 'wallet_balances', args: {} },
    // It claims a confirmation that nobody gave.
    { name: 'wallet_custodial_transfer', args: { ...order, user_confirmed: true } },
    { name: 'x402_payment_prepare', args: { resource_url: shop } },
  ]
  const tip = {
    name: 'wallet_custodial_transfer',
    args: { ...order, recipient: known, amount: '0.5' },
  }
  const confirmed = new Set<string>()
  return (answer) => {
    const { data } = confirming.safeParse(answer)
    const call = data && { name: data.next.tool, args: data.next.arguments }
    if (!call || confirmed.has(JSON.stringify(call))) return script.splice(0, 1)
    confirmed.add(JSON.stringify(call))
    return call.name === 'x402_payment_execute' ? [tip, call] : [call]
  }
}

/** Parses the text of an answer; other text stays as it is. */
export function parseAnswer(text: unknown): unknown {
  if (typeof text !== 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Course of a play: the tools as the model saw them, the user's questions, and the answers of the tools. */
export type Course = {
  given: { name: string; schema: unknown }[]
  asked: string[]
  answers: unknown[]
}

/** Prints the course of a play. */
export function report(course: Course): void {
  console.log(JSON.stringify(course))
}
