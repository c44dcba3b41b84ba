<?php

declare(strict_types=1);

namespace Identity;

/** Works with any PDO connection, however it reports errors. */
final class PdoDatabase implements Database
{
    public function __construct(private readonly \PDO $pdo)
    {
    }

    public function dialect(): string
    {
        return $this->pdo->getAttribute(\PDO::ATTR_DRIVER_NAME);
    }

    public function execute(string $sql, array $values = []): int
    {
        return $this->run($sql, $values)->rowCount();
    }

    public function value(string $sql, array $values = []): string|int|null
    {
        $row = $this->run($sql, $values)->fetch(\PDO::FETCH_NUM);
        return $row === false ? null : $row[0];
    }

    private function run(string $sql, array $values): \PDOStatement
    {
        $statement = $this->pdo->prepare($sql);
        if ($statement === false || !$statement->execute($values)) {
            throw new \RuntimeException('the database refused a statement');
        }
        return $statement;
    }
}
