export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M8 20c0-6 4-9 8-9h5" />
      <path d="m18 6 5 5-5 5" />
      <circle cx="8" cy="24" r="2.4" />
    </svg>
  )
}
