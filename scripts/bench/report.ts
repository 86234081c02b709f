/** The result of a measurement, and how it is printed. */

/** One measured value with its target. */
export type Figure = {
  name: string
  /** The measured value: a ratio, or milliseconds where the name says so. */
  value: number
  target: number
  /** True if the target is a minimum; otherwise it is a maximum. */
  isMinimum?: boolean
  /** Medians and other numbers that help to judge the value. */
  detail: Readonly<Record<string, number>>
}

/** Prints each value with its target and details. */
export function printFigures(figures: readonly Figure[]): void {
  for (const { name, value, target, isMinimum = false, detail } of figures) {
    const verdict = (isMinimum ? value >= target : value <= target) ? 'reached' : 'missed'
    console.log(`${name}: ${value.toFixed(2)} (target ${target.toFixed(2)}, ${verdict})`)
    for (const [key, number] of Object.entries(detail))
      console.log(`    ${key}: ${number.toFixed(3)}`)
  }
}

/** Returns the value below which this part of the sorted values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/** Returns the middle one of the sorted values. */
export const median = (values: readonly number[]) => quantile(values, 0.5)
