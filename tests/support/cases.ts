/** Returns how many random cases a test takes: all in its long form, one in four in `npm test`. */
export function casesOf(all: number): number {
  return process.env['FORM'] === 'long' ? all : Math.ceil(all / 4)
}
