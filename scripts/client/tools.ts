/**
 * The operations as tools of a model, for adapters of agent frameworks. A model asks for a confirmation by calling
 * with `user_confirmed`; it is sent only if the framework asked a person, who agreed to these terms.
 */
import { type AccountError, isObject } from './account-error.ts'
import type { AccountClient, Operations } from './operations.ts'
import { toolList } from './tool-list.ts'

/** A tool, as it is described to a model. */
export type AccountTool = {
  name: keyof Operations
  title: string
  description: string
  /** True if a call changes nothing. */
  isReadOnly: boolean
  /** JSON Schema of the fields of the operation. */
  inputSchema: {
    type: 'object'
    properties: Record<string, Record<string, unknown>>
    required?: string[]
    additionalProperties?: boolean | object
  }
  /** Field that names a payment that was entered before. */
  continuing?: 'transfer_id' | 'attempt_id'
}

/** Arguments of a model. */
export type ToolInput = Record<string, unknown>

/** Choice of tools. */
export type ToolOptions = {
  /** Names of the tools to offer; all if absent. */
  only?: readonly AccountTool['name'][] | undefined
}

/** Returns the chosen tools. Throws a TypeError for a name that no tool has. */
export function chooseTools({ only }: ToolOptions = {}): readonly AccountTool[] {
  if (!only) return toolList
  return only.map((name) => {
    const found = toolList.find((tool) => tool.name === name)
    if (!found) throw new TypeError(`There is no tool ${name}.`)
    return found
  })
}

/** Returns true if a person has to agree before this call: it confirms the terms of a payment. */
export function asksUser({ continuing, isReadOnly }: AccountTool, input: ToolInput): boolean {
  const isPaying = !isReadOnly && paymentOf(continuing, input) !== undefined
  return isPaying && input['user_confirmed'] === true
}

/** Returns the terms of the payment that a call confirms, as the service holds them. */
export async function termsToConfirm(
  account: Pick<AccountClient, 'transferStatus'>,
  input: unknown,
): Promise<string> {
  const id = paymentIn(readObject(input))
  const { amount, token, chain, to } = await account.transferStatus({ transfer_id: id })
  return `Pay ${amount} ${token} on ${chain} to ${to}.`
}

/** Returns the id of the payment that a call continues. Throws a TypeError if it continues none. */
export function paymentIn(input: ToolInput): string {
  const id = paymentOf('transfer_id', input) ?? paymentOf('attempt_id', input)
  if (id === undefined) throw new TypeError('The call continues no payment.')
  return id
}

/** Reads an object, such as the arguments of a model. Throws a TypeError for anything else. */
export function readObject(value: unknown): Record<string, unknown> {
  if (isObject(value)) return value
  throw new TypeError('This has to be an object.')
}

/** One call: whether a person agreed to it, and the signal that ends it. */
export type ToolCall = {
  /** True only if a person agreed to this very call. */
  isAgreed: boolean
  signal?: AbortSignal | undefined
  /** Name of the call within all runs of the framework, if the framework may make it again. */
  callName?: string | undefined
}

/**
 * Calls the operation and returns its answer, or its refusal as a model reads it. It has one effect however often
 * the framework makes the call again, or the model repeats one whose answer was lost.
 */
export async function callTool(
  account: AccountClient,
  tool: AccountTool,
  input: ToolInput,
  { isAgreed, signal, callName }: ToolCall,
): Promise<Record<string, unknown>> {
  const { user_confirmed: _, ...asked } = input
  const isConfirmed = isAgreed && asksUser(tool, input)
  const method = tool.name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
  const called: unknown = Reflect.get(account, method)
  if (typeof called !== 'function') throw new TypeError(`The account has no method ${method}.`)
  const request = isConfirmed ? { ...asked, user_confirmed: true } : asked
  const order = JSON.stringify([tool.name, request])
  const name = callName === undefined ? undefined : `${callName} ${order}`
  const { key, isRepeated } = await keyFor(account, order, name)
  const lost = lostOrders(account)
  try {
    const options = { signal, idempotencyKey: key }
    const answer: unknown = await Reflect.apply(called, account, [request, options])
    lost.delete(order)
    return { ...withAskingNote(readObject(answer)), ...(isRepeated && repeated) }
  } catch (error) {
    // Also after a refusal, which may be that of a repetition while the first call went through.
    if (!tool.isReadOnly) lost.set(order, key)
    if (!isAccountError(error)) throw error
    return refusalOf(error)
  }
}

/** Note for a model whose order was made before. */
const repeated = {
  note: 'You made the same call before without success: this is the answer to both. If your user wants it twice, call again.',
} as const

/** Keys of orders that were not answered, by order, and of their repetitions, by name. */
const lostOrdersOf = new WeakMap<AccountClient, Map<string, string>>()

function lostOrders(account: AccountClient): Map<string, string> {
  const lost = lostOrdersOf.get(account) ?? new Map<string, string>()
  lostOrdersOf.set(account, lost)
  return lost
}

/** Returns the key of a call: that of the order that it repeats, else its own. */
async function keyFor(account: AccountClient, order: string, name: string | undefined) {
  const lost = lostOrders(account)
  const before = (name !== undefined ? lost.get(name) : undefined) ?? lost.get(order)
  if (before === undefined) {
    return { key: name === undefined ? crypto.randomUUID() : await keyOf(name), isRepeated: false }
  }
  // The framework may make the repetition again once the order is answered.
  if (name !== undefined) lost.set(name, before)
  return { key: before, isRepeated: true }
}

async function keyOf(call: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(call))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Answer for a model whose user said no. */
export const declined = {
  error: 'not_confirmed',
  message:
    'The user did not agree, and nothing was paid. Do not ask again unless the user wants it.',
} as const

function paymentOf(field: string | undefined, input: ToolInput): string | undefined {
  const id = field === undefined ? undefined : input[field]
  return typeof id === 'string' ? id : undefined
}

/** Tells the model to make the confirming call at once, because the framework asks the user before it is made. */
function withAskingNote(answer: Record<string, unknown>): Record<string, unknown> {
  const { next } = answer
  const isAsking =
    isObject(next) && isObject(next['arguments']) && next['arguments']['user_confirmed'] === true
  if (!isAsking) return answer
  return { ...answer, next: { ...next, when: 'Now. Your user is asked before it is paid.' } }
}

/** Recognizes the error by its name, because a program may have loaded the client twice. */
function isAccountError(error: unknown): error is AccountError {
  return error instanceof Error && error.name === 'AccountError'
}

function refusalOf(error: AccountError): Record<string, unknown> {
  const { code, message, hint, details, retryAfterSeconds, requestId } = error
  return {
    error: code,
    message,
    ...(hint !== undefined && { hint }),
    ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
    ...(requestId !== undefined && { request_id: requestId }),
    ...(Object.keys(details).length > 0 && { details }),
  }
}
