/**
 * Order of test files: those first that take long, so that no worker is left alone with one at the end. The
 * rest is in vitest's order, by size until it knows durations.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const slowest = [
  'tests/browser/pages.test.ts',
  'tests/flows/start.test.ts',
  'tests/browser/walletconnect.test.ts',
  'tests/browser/hosted.test.ts',
  'tests/browser/',
  'tests/chain/',
  'tests/races/',
  'tests/faults/',
]

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = slowest.findIndex((path) => moduleId.includes(path))
      return found < 0 ? slowest.length : found
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
