/** How questions are made, and what is done for good by the same words as it is asked whether it could be. */
import type { Row } from '../model/ledger.ts'
import type { Question, Told } from './asking.ts'
import type { Story } from './stage.ts'
import { ask } from './stage.ts'

export const hasRow = (rows: readonly Row[]) => rows.length > 0

/** Whether a column of the first row has this value. */
export const says =
  (column: string, value: unknown) =>
  ([row]: readonly Row[]): boolean =>
    row?.[column] === value

/** Whether a column of the first row has any value. */
export const holds =
  (column: string) =>
  ([row]: readonly Row[]): boolean =>
    row?.[column] !== null && row?.[column] !== undefined

/** Does it; answers its rows when it was done, and throws when the owner gave nothing that it follows from. */
export async function perform(story: Story, question: Question): Promise<Row[] | undefined> {
  const answer = await ask(story, question.name, question.args)
  const told: Told = Array.isArray(answer) ? { rows: answer } : answer
  return judge(story, question, told)
}

/** The rows of what was done; undefined where it was not. */
export function judge(story: Story, question: Question, told: Told): Row[] | undefined {
  if ('refused' in told || !question.isDone(told.rows)) return undefined
  if (!question.isGiven()) {
    const { kind, words } = question
    throw new Error(`given by nobody: ${kind} ${words}: ${JSON.stringify(told.rows).slice(0, 400)}`)
  }
  story.done.set(question.kind, (story.done.get(question.kind) ?? 0) + 1)
  return told.rows
}
