/**
 * An agent that knows only the contract document. It takes the requests from the examples, fills in what
 * its user told it and what earlier answers contained, and sends them as written.
 */
import { expect } from 'vitest'
import * as z from 'zod'
import { randomUUID } from '../seed.ts'

export type Example = {
  section: string
  name: string
  onlyIf: string | undefined
  ask: string | undefined
  repeatWhile: string | undefined
  method: string
  url: string
  headers: Record<string, string>
  body: string | undefined
}
type Answers = Record<string, unknown>

/** Returns every request of the document, in order. */
export function examplesIn(markdown: string): Example[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .flatMap((part) => {
      const section = part.split('\n')[0] ?? ''
      return [...part.matchAll(/```http\n([\s\S]*?)\n```/g)].map(([, text = '']) =>
        parse(section, text),
      )
    })
}

function parse(section: string, text: string): Example {
  const [head = '', body] = text.split('\n\n')
  const lines = head.split('\n')
  const note = (name: string) =>
    lines.find((line) => line.startsWith(`# ${name}: `))?.slice(name.length + 4)
  const [request = '', ...headerLines] = lines.filter((line) => !line.startsWith('# '))
  const [method = '', url = ''] = request.split(' ')
  return {
    section,
    name: note('name') ?? '',
    onlyIf: note('only if'),
    ask: note('ask'),
    repeatWhile: note('repeat while'),
    method,
    url,
    headers: Object.fromEntries(headerLines.map(headerIn)),
    body,
  }
}

function headerIn(line: string): [name: string, value: string] {
  const [name = '', value = ''] = line.split(': ')
  return [name, value]
}

export type Listener = (answer: unknown) => void | Promise<void>

/**
 * Runs examples one after the other. `user` is called with each answer that asks for a confirmation, and
 * agrees by returning.
 */
export async function follow(
  examples: readonly Example[],
  told: Record<string, string>,
  user: Listener,
): Promise<Answers> {
  const answers: Answers = { ...told }
  for (const example of examples) {
    if (!isWanted(example, answers)) continue
    if (example.ask !== undefined) await user(answers[example.ask])
    const isOver = async () => {
      answers[example.name] = await send(example, answers)
      return !isToBeRepeated(example, answers)
    }
    await expect.poll(isOver, { message: example.name }).toBe(true)
  }
  return answers
}

async function send({ method, url, headers, body, name }: Example, answers: Answers) {
  const filled = (text: string) => fill(text, { ...answers, new_id: randomUUID() })
  const given = Object.entries(headers).map(([key, value]): [string, string] => [
    key,
    filled(value),
  ])
  const answer = await fetch(filled(url), {
    method,
    headers: Object.fromEntries(given),
    ...(body === undefined ? {} : { body: filled(body) }),
  })
  const json = z.looseObject({}).parse(await answer.json())
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${JSON.stringify(json)}`)
  return json
}

function isWanted({ onlyIf }: Example, answers: Answers): boolean {
  if (onlyIf === undefined) return true
  const isNegated = onlyIf.startsWith('not ')
  return (valueAt(onlyIf.replace('not ', ''), answers) === true) !== isNegated
}

function isToBeRepeated({ repeatWhile }: Example, answers: Answers): boolean {
  const [place = '', word] = repeatWhile?.split(' is ') ?? []
  return repeatWhile !== undefined && valueAt(place, answers) === word
}

function fill(text: string, answers: Answers): string {
  return text.replace(/\{\{([^}]+)\}\}/g, (placeholder, place: string) => {
    const value = valueAt(place, answers)
    if (typeof value !== 'string') throw new Error(`nobody told ${placeholder}`)
    return value
  })
}

const object = z.record(z.string(), z.unknown())

function valueAt(place: string, answers: Answers): unknown {
  return place
    .split('.')
    .reduce<unknown>(
      (value, key) => (Array.isArray(value) ? value[Number(key)] : object.parse(value)[key]),
      answers,
    )
}
