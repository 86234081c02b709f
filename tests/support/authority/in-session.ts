/** How a question of one session is made. */
import type { Question } from './asking.ts'
import type { Session, Story } from './stage.ts'
import { bookOf } from './stage.ts'

type Made = Pick<Question, 'kind' | 'name' | 'isDone'> & {
  args?: Question['args']
  may: (book: ReturnType<typeof bookOf>, session: string) => boolean
}

/** A question of one session; what it may is read off the book when it was done. */
export function inSession(story: Story, session: Session, { args, may, ...made }: Made): Question {
  const book = bookOf(story)
  return {
    ...made,
    words: `in the session ${session.id} ${JSON.stringify(args ?? {})}`,
    args: { credential: session.credential, ...args },
    isGiven: () => may(book, session.id),
  }
}
