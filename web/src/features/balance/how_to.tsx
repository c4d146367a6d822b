import { useText } from '../../i18n/language'
import { EmptyState } from '../../ui/states'
import styles from './balance.module.css'

const settings = `[balance]
enabled = true

[[balance.unit]]
name = "gpu0"
device = "GPU-…"        # nvidia-smi -L

[[balance.unit]]
name = "socket0"
cpus = "0-15"
link_bytes_per_s = 2e11`

/** Where there is nothing to see: why, and how the loop is switched on. */
export function HowToBalance({ title }: { title: string }) {
  const t = useText()
  return (
    <EmptyState title={title}>
      <p>{t('balance.none.text')}</p>
      <pre className={styles.settings} aria-label={t('balance.settings')}><code>{settings}</code></pre>
    </EmptyState>
  )
}
