/** Builders for questions, and a way to perform for real what a question asks about. */
import type { Row } from '../model/ledger.ts'
import type { Question, Told } from './asking.ts'
import type { Story } from './stage.ts'
import { ask } from './stage.ts'

export const hasRow = (rows: readonly Row[]) => rows.length > 0

/** Returns a check that a column of the first row has this value. */
export const says =
  (column: string, value: unknown) =>
  ([row]: readonly Row[]): boolean =>
    row?.[column] === value

/** Returns a check that a column of the first row has any value. */
export const holds =
  (column: string) =>
  ([row]: readonly Row[]): boolean =>
    row?.[column] !== null && row?.[column] !== undefined

/** Performs the action and returns its rows if it succeeded. Throws if no act of the owner permits it. */
export async function perform(story: Story, question: Question): Promise<Row[] | undefined> {
  const answer = await ask(story, question.name, question.args)
  const told: Told = Array.isArray(answer) ? { rows: answer } : answer
  return judge(story, question, told)
}

/** Returns the rows of an action that succeeded, or undefined. Throws if no act of the owner permits it. */
export function judge(story: Story, question: Question, told: Told): Row[] | undefined {
  if ('refused' in told || !question.isDone(told.rows)) return undefined
  if (!question.isGiven()) {
    const { kind, words } = question
    throw new Error(`given by nobody: ${kind} ${words}: ${JSON.stringify(told.rows).slice(0, 400)}`)
  }
  story.done.set(question.kind, (story.done.get(question.kind) ?? 0) + 1)
  return told.rows
}
