import { useLanguage } from '../../i18n/language'
import type { ProjectUse } from '../../queries/projects'
import { formatNumber } from '../../ui/format'
import { LoadBar } from '../../ui/load_bar'
import { isZero, shareOf, toMicros } from '../../ui/money'

/** A figure against its quota; 0 is none. */
export function Quota({ used, most, digits = 2 }: { used: number; most: number; digits?: number }) {
  const { t, locale } = useLanguage()
  const text = formatNumber(used, locale, digits)
  if (most === 0) return <span className="dim">{t('projects.unlimited', { used: text })}</span>
  return <LoadBar share={used / most} isOver={used >= most}>{t('projects.of', { used: text, most: formatNumber(most, locale, digits) })}</LoadBar>
}

/** Money against its quota: exact texts, compared as such. */
export function CostQuota({ use }: { use: ProjectUse }) {
  const { t } = useLanguage()
  const used = use.currency ? `${use.cost} ${use.currency}` : use.cost
  if (isZero(use.quota.max_cost)) return <span className="dim">{t('projects.unlimited', { used })}</span>
  const isOver = (toMicros(use.cost) ?? 0n) >= (toMicros(use.quota.max_cost) ?? 0n)
  return (
    <LoadBar share={shareOf(use.cost, use.quota.max_cost)} isOver={isOver}>
      {t('projects.of', { used: use.cost, most: use.currency ? `${use.quota.max_cost} ${use.currency}` : use.quota.max_cost })}
    </LoadBar>
  )
}
