#include <windows.h>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <mutex>
#include <map>
struct Noisy { std::string n; Noisy(const char*s):n(s){} ~Noisy(){ if(!n.empty()) count++; } static thread_local int count; };
thread_local int Noisy::count = 0;
__attribute__((noinline)) int thrower(int n) { Noisy a("x"); if (n == 0) throw std::runtime_error("deep"); return thrower(n-1)+1; }
__attribute__((noinline)) int rethrow(int n) { try { return thrower(n); } catch (const std::logic_error&) { return 1; } catch (...) { throw; } }
int work(int n) { int caught = 0; for (int i=0;i<200;i++) { try { rethrow(i%n); } catch (const std::exception &e) { caught++; try { throw 5; } catch (int) { caught++; } } } return caught + Noisy::count; }
int main() { std::vector<std::thread> ts; std::vector<int> r(4); for (int i=0;i<4;i++) ts.emplace_back([&,i]{ r[i]=work(10+i); }); for (auto&t:ts) t.join(); for (int x:r) printf("%d\n",x); std::map<std::string,int> m; for (int i=0;i<1000;i++) m[std::to_string(i%37)]+=i; for (auto&p:m) printf("%s %d\n",p.first.c_str(),p.second); fflush(stdout); return 7; }
