// Line icons on a 24 × 24 grid. Every icon has words beside it.
const paths = {
  alert: 'M12 8v5m0 3.5v.01M12 3 2.5 20h19z',
  check: 'm5 12.5 4.5 4.5L19 7',
  chevron: 'm9 5 7 7-7 7',
  clock: 'M12 7v5l3.5 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  bin: 'M4.5 7h15M9.5 7V4.5h5V7M6.5 7l1 13h9l1-13M10.5 11v5.5m3-5.5v5.5',
  down: 'm6 9 6 6 6-6',
  download: 'M12 4v11m-4.5-4 4.5 4.5 4.5-4.5M4.5 19.5h15',
  exit: 'M14 4h5v16h-5M4 12h11m-4-4 4 4-4 4',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  grid: 'M4 4h6.5v6.5H4zM13.5 4H20v6.5h-6.5zM4 13.5h6.5V20H4zM13.5 13.5H20V20h-6.5z',
  info: 'M12 11v5.5M12 7.5v.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z',
  invoice: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9.5 8h5m-5 4h5',
  key: 'M15.5 4a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM12 11.5 4 19.5V21h3.5v-2.5H10V16',
  link: 'M10 14a4.5 4.5 0 0 0 6.4 0l3.2-3.2a4.5 4.5 0 0 0-6.4-6.4L12 5.6M14 10a4.5 4.5 0 0 0-6.4 0l-3.2 3.2a4.5 4.5 0 0 0 6.4 6.4L12 18.4',
  lock: 'M5.5 11h13v9.5h-13zM8.5 11V7.5a3.5 3.5 0 0 1 7 0V11',
  mail: 'M3 5.5h18v13H3zM3 7l9 6.5L21 7',
  people:
    'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2.5 19.5c.6-3.2 3.2-5 6.5-5s5.9 1.8 6.5 5M15.5 5.4a3.5 3.5 0 0 1 0 6.3M18 14.8c2 .7 3.2 2.3 3.6 4.7',
  phone: 'M7 2.5h10v19H7zM11 18.5h2',
  screen: 'M3 4.5h18v12H3zM8.5 20.5h7M12 16.5v4',
  shield: 'M12 3 4.5 6v5.5c0 4.5 3 8 7.5 9.5 4.5-1.5 7.5-5 7.5-9.5V6z',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20.5c.8-3.6 3.7-5.5 7.5-5.5s6.7 1.9 7.5 5.5',
};

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className={name === 'chevron' ? 'icon chevron' : 'icon'}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
      {name === 'eye' && <path className="slash" d="M4 20 20 4" />}
    </svg>
  );
}
