import { Instant } from '../instant.tsx';
import { Notice } from '../notice.tsx';
import { deletionPage } from './account-pages.ts';

export function DeletionNotice({ dueAt }: { dueAt: Date | null }) {
  if (!dueAt) return null;
  return (
    <Notice kind="warning">
      Your account will be deleted on <Instant at={dueAt} />. Until then you cannot open our products.{' '}
      <a href={deletionPage}>Keep your account</a>
    </Notice>
  );
}
