/** Lists that a node answers: of bounded length, and read no further than the first wrong element. */
import * as z from 'zod'

/**
 * A list of at most `lengthMax` elements. A schema's own array tells what is wrong with each element,
 * which takes gigabytes for megabytes of wrong ones.
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
