import { Button, Group, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../../i18n/language'
import { CopyButton } from '../copy_button'
import styles from './secret_once.module.css'

/** A secret that nobody can ever look up again: shown until its reader says that it is copied. */
export function SecretOnce({ title, secret, children, onClose }: { title: string; secret: string; children?: ReactNode; onClose: () => void }) {
  const t = useText()
  return (
    <Modal opened onClose={onClose} title={title} withCloseButton={false} closeOnClickOutside={false} closeOnEscape={false}>
      {children}
      <p>{t('form.once')}</p>
      <div className={styles.secret}><code>{secret}</code><CopyButton value={secret} /></div>
      <Group mt="md" justify="flex-end"><Button variant="filled" data-autofocus onClick={onClose}>{t('form.once.done')}</Button></Group>
    </Modal>
  )
}
