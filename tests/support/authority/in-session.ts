/** Builds questions that concern one session. */
import type { Question } from './asking.ts'
import type { Session, Story } from './stage.ts'
import { bookOf } from './stage.ts'

type Made = Pick<Question, 'kind' | 'name' | 'isDone'> & {
  args?: Question['args']
  may: (book: ReturnType<typeof bookOf>, session: string) => boolean
}

/** Returns a question of one session. Its permission follows from the book at this time. */
export function inSession(story: Story, session: Session, { args, may, ...made }: Made): Question {
  const book = bookOf(story)
  return {
    ...made,
    words: `in the session ${session.id} ${JSON.stringify(args ?? {})}`,
    args: { credential: session.credential, ...args },
    isGiven: () => may(book, session.id),
  }
}
