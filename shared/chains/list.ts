/** Schema for lists in a node's answer. It bounds their length and stops at the first invalid element. */
import * as z from 'zod'

/**
 * Returns a schema for a list of at most `lengthMax` elements. Zod's own array schema reports an issue for
 * each invalid element, which takes gigabytes of memory for megabytes of invalid input.
 */
export function listOf<Schema extends z.ZodType>(schema: Schema, lengthMax: number) {
  return z
    .custom<unknown[]>((value) => Array.isArray(value) && value.length <= lengthMax)
    .transform((elements, context) => {
      const list: z.output<Schema>[] = []
      for (const element of elements) {
        const read = schema.safeParse(element)
        if (!read.success) {
          context.addIssue({ code: 'custom', message: 'an element has another shape' })
          return z.NEVER
        }
        list.push(read.data)
      }
      return list
    })
}
