/**
 * Order of test files: those of browsers after all others, because the world and the browser that they
 * share run from the first of them to the end. Vitest orders the rest, by size until it knows durations.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The file of browsers that takes longest, though it is small; a worker is busy with it to the end. */
const longest = 'tests/browser/pages.test.ts'

export class BrowsersLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification) =>
      project.name !== 'browser' ? 0 : moduleId.endsWith(longest) ? 1 : 2
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}
