/**
 * Charts as SVG with axes. Places across are in percent and heights in pixels, so that text keeps its shape at any
 * width. Pointing at a part shows its value, and a table repeats every figure.
 */
import type { Child } from 'hono/jsx'
import { formatUsd } from '../../../shared/money/amount.ts'
import { forPeople, Table } from './show.tsx'

/** Value of one part of the time, with six decimals; `text` is the value in words. */
export type Point = { label: string; value: bigint; text: string }

type ChartProps = {
  title: string
  /** Sentence that describes the shape; screen readers read it instead of the shape. */
  says: string
  unit: string
  points: readonly Point[]
  /** Heading of the labels in the table. */
  part?: string
}

const height = 160
const labelsMax = 5

/** Draws one bar a part. The cap is a line, unless it is 0 or over eight times the highest bar. */
export function BarChart({
  cap,
  ...chart
}: ChartProps & { cap?: { value: bigint; text: string } }) {
  const most = highest(chart.points)
  const isCapShown = cap !== undefined && cap.value > 0n && cap.value <= most * 8n
  const steps = axisSteps(isCapShown && cap.value > most ? cap.value : most)
  const [top = 1n] = steps
  const width = 100 / chart.points.length
  return (
    <Chart
      {...chart}
      steps={steps}
      legend={cap && legendOf(cap, isCapShown, chart.unit)}
      draw={(value, at) => {
        const tall = heightOf(value, top)
        const [left, broad] = [percent((at + 0.14) * width), percent(0.72 * width)]
        return <rect class="bar" x={left} y={height - tall} width={broad} height={tall} />
      }}
      over={isCapShown && <Level class="cap" y={height - heightOf(cap.value, top)} />}
    />
  )
}

function legendOf(cap: { value: bigint; text: string }, isShown: boolean, unit: string): string {
  const limit = `daily spending cap, ${cap.text} ${unit}`
  const absence = cap.value === 0n ? 'lets nothing be paid' : 'is far above'
  return isShown ? `The dashed line is the ${limit}.` : `The ${limit}, ${absence}.`
}

/** Draws a line with steps: a value holds until it changes. */
export function StepChart(chart: ChartProps) {
  const steps = axisSteps(highest(chart.points))
  const [top = 1n] = steps
  const width = 100 / chart.points.length
  const levels = chart.points.map(({ value }) => height - heightOf(value, top))
  return (
    <Chart
      {...chart}
      steps={steps}
      draw={(_, at) => {
        const y = levels[at] ?? height
        const [left, right] = [percent(at * width), percent((at + 1) * width)]
        return (
          <>
            <rect class="area" x={left} y={y} width={percent(width)} height={height - y} />
            <line class="curve" x1={left} x2={left} y1={levels[at - 1] ?? y} y2={y} />
            <line class="curve" x1={left} x2={right} y1={y} y2={y} />
          </>
        )
      }}
    />
  )
}

function Chart({ legend, ...plot }: PlotProps & { legend?: string | undefined }) {
  const { title, says, unit, points, part = 'Day' } = plot
  return (
    <figure class="chart">
      <Plot {...plot} />
      <figcaption class="small quiet">{[says, legend].filter(Boolean).join(' ')}</figcaption>
      <details>
        <summary>Show as a table</summary>
        <Table
          caption={title}
          columns={[
            { label: part, cell: ({ label }) => label },
            { label: unit, cell: ({ text }) => text, isNumber: true },
          ]}
          rows={points.toReversed()}
        />
      </details>
    </figure>
  )
}

type PlotProps = ChartProps & {
  /** Values at which lines cross the chart, the highest first. */
  steps: readonly bigint[]
  /** Draws one part. */
  draw: (value: bigint, at: number) => Child
  /** Shape in front of the parts. */
  over?: Child
}

function Plot({ title, says, unit, points, steps, draw, over }: PlotProps) {
  const width = 100 / points.length
  const [broad, top] = [percent(width), steps[0] ?? 1n]
  return (
    <div class="plot">
      <ValueAxis steps={steps} />
      <svg role="img" aria-label={`${title}. ${says}`} height={height + 24}>
        {steps.map((value) => (
          <Level class="grid" y={height - heightOf(value, top)} />
        ))}
        {points.map(({ label, value, text }, at) => (
          <g class="part">
            <title>{`${label}: ${text} ${unit}`}</title>
            <rect class="hit" x={percent(at * width)} y="0" width={broad} height={height} />
            {draw(value, at)}
          </g>
        ))}
        {over}
        <PartAxis points={points} />
      </svg>
    </div>
  )
}

function Level({ y, ...rest }: { y: number; class: string }) {
  return <line {...rest} x1="0" x2="100%" y1={y} y2={y} />
}

/** Writes the values beside the lines. */
function ValueAxis({ steps }: { steps: readonly bigint[] }) {
  const texts = steps.map((value) => forPeople(formatUsd(value)).replace(/\.00$/, ''))
  return (
    <svg
      class={`values of-${Math.min(10, Math.max(...texts.map(({ length }) => length)))}`}
      aria-hidden="true"
      height={height + 24}
    >
      {steps.map((value, at) => (
        <text x="100%" y={height - heightOf(value, steps[0] ?? 1n) + 4} text-anchor="end">
          {texts[at]}
        </text>
      ))}
    </svg>
  )
}

/** Writes labels below some of the parts, as many as fit on a phone. */
function PartAxis({ points }: { points: readonly Point[] }) {
  const every = Math.ceil(points.length / labelsMax)
  return points.map(({ label }, at) => {
    if (at % every !== 0) return null
    return (
      <text x={percent(((at + 0.5) * 100) / points.length)} y={height + 18} text-anchor="middle">
        {label}
      </text>
    )
  })
}

/** Returns round values from 0 to above the highest one, the highest first. */
function axisSteps(most: bigint): bigint[] {
  let step = 10_000n
  const factors = [2n, 5n, 10n]
  for (let unit = step; step * 4n < most; ) {
    const factor = factors.find((times) => unit * times * 4n >= most)
    if (factor === undefined) unit *= 10n
    step = unit * (factor ?? 1n)
  }
  const count = Math.max(1, Number((most + step - 1n) / step))
  return Array.from({ length: count + 1 }, (_, at) => BigInt(count - at) * step)
}

function highest(points: readonly Point[]): bigint {
  return points.reduce((most, { value }) => (value > most ? value : most), 0n)
}

function heightOf(value: bigint, top: bigint): number {
  return Number((value * BigInt(height) * 100n) / top) / 100
}

function percent(share: number): string {
  return `${Number(share.toFixed(3))}%`
}
