import type { AnyScore, GroupedScore, Score } from '../../queries/scores'
import { formatSize } from '../../ui/rates'

export function isOperatorScore(score: AnyScore): score is Score {
  return 'operator' in score
}

export interface MapColumn {
  key: string
  name: string
  size: string
}

export interface ScoreMap {
  rows: { key: string; center: string; unitType: string }[]
  columns: MapColumn[]
  at: (row: string, column: string) => AnyScore | null
}

const rowKey = (score: AnyScore) => score.unit_type_id

/** The size of an operator at which most unit types were measured; of several the newest. */
function usualSize(scores: readonly Score[]): string {
  const sizes = new Map<string, { places: Set<string>; newest: string }>()
  for (const score of scores) {
    const size = formatSize(score.parameters)
    const known = sizes.get(size) ?? { places: new Set<string>(), newest: '' }
    known.places.add(rowKey(score))
    if (score.measured_at > known.newest) known.newest = score.measured_at
    sizes.set(size, known)
  }
  const [best] = [...sizes].sort(([, a], [, b]) => b.places.size - a.places.size || (a.newest < b.newest ? 1 : -1))
  return best?.[0] ?? ''
}

function columnOf(score: GroupedScore): string {
  return score.name ?? ''
}

/** Unit types against operators (or what else scores are of): one score a cell. */
export function mapOf(scores: readonly AnyScore[], unitCount: number): ScoreMap {
  const cells = new Map<string, AnyScore>()
  const rows = new Map<string, ScoreMap['rows'][number]>()
  const columns = new Map<string, MapColumn>()
  const operators = new Map<string, Score[]>()
  const put = (score: AnyScore, column: MapColumn) => {
    columns.set(column.key, column)
    rows.set(rowKey(score), { key: rowKey(score), center: score.center, unitType: score.unit_type })
    cells.set(`${rowKey(score)} ${column.key}`, score)
  }
  for (const score of scores) {
    if (!isOperatorScore(score)) put(score, { key: columnOf(score), name: columnOf(score), size: '' })
    else if (score.unit_count === unitCount) {
      const others = operators.get(score.operator)
      if (others) others.push(score)
      else operators.set(score.operator, [score])
    }
  }
  for (const [operator, all] of operators) {
    const size = usualSize(all)
    for (const score of all) if (formatSize(score.parameters) === size) put(score, { key: operator, name: operator, size })
  }
  return {
    rows: [...rows.values()].sort((a, b) => a.center.localeCompare(b.center) || a.unitType.localeCompare(b.unitType)),
    columns: [...columns.values()].sort((a, b) => a.name.localeCompare(b.name)),
    at: (row, column) => cells.get(`${row} ${column}`) ?? null,
  }
}

/** On how many units operators were measured, ascending. */
export function countsOf(scores: readonly AnyScore[]): number[] {
  return [...new Set(scores.filter(isOperatorScore).map((score) => score.unit_count))].sort((a, b) => a - b)
}
